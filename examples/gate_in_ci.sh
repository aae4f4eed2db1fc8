#!/bin/sh
# A gate in CI: may the model of this change replace the one in production? Runs as it is, anywhere onebit is installed.
#
#   sh gate_in_ci.sh PREDICTIONS BASELINE CANDIDATE MARGIN [more options of onebit gate]
#
# PREDICTIONS has one row per item and one column per model. Raters are simulated by the options --truth or --verdicts;
# where people answer, make the study once (onebit study create NAME ... --baseline ...) and ask here for
# `onebit study verdict NAME --json` instead: the exit codes are the same.
set -eu
table=$1 baseline=$2 candidate=$3 margin=$4
shift 4

code=0
onebit gate "$table" --baseline "$baseline" --candidate "$candidate" --margin "$margin" --out gate --json "$@" \
  > verdict.json || code=$?
case $code in
  0) outcome="The candidate passes." ;;
  3) outcome="The candidate is worse." ;;
  4) outcome="Not decided yet: answer more questions, or give a larger budget." ;;
  *) outcome="The gate could not be run." ;;
esac

# What people read on the page of the run; GitHub gives the file, elsewhere it is printed.
{
  echo "$outcome"
  if [ -s verdict.json ]; then
    python3 -c 'import json; print(json.load(open("verdict.json"))["line"])'
  fi
} | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
