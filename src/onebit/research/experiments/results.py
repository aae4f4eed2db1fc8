"""The report over all experiments: each claim, its figure, what was found, and its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onebit.research.experiments import exploration, online_to_batch, rival_runs
from onebit.research.experiments.catalogue import EXPERIMENTS
from onebit.research.experiments.piece import Experiment, markdown

HEAD = """# The paper's claims, measured

This page is written by `onebit reproduce`; do not edit it. Each experiment has a figure, a table and the JSON behind it
in `results/`. Seeds are fixed: the same command gives the same numbers on the same kind of processor (sums of floats
may differ in the last digit on another). `make results` makes this page anew.

The paper is *Fast Rates for Bandit PAC Multiclass Classification* (Erez, Cohen, Koren, Mansour, Moran, 2024). Its
rivals here are EXP4 (Auer, Cesa-Bianchi, Freund, Schapire 2002), Policy Elimination (Dudik, Hsu, Kale, Karampatziakis,
Langford, Reyzin, Zhang 2011), ILOVETOCONBANDITS (Agarwal, Hsu, Kale, Langford, Li, Schapire 2014) and the sparse-reward
regret learner of Erez, Cohen, Koren, Mansour and Moran (2024). Banditron (Kakade, Shalev-Shwartz, Tewari 2008) is built
and tested, and not measured here: it learns linear classifiers from features, and these problems are tables of
predictions. `make bench-rivals` runs it and ILOVETOCONBANDITS beside Vowpal Wabbit's `--cover`.

Two versions of the paper's Algorithm 1 are measured, both with gamma = 1/2 and with chosen sizes, since those of
Theorem 1 are out of reach (`onebit plan`); so neither carries the theorem. *paper* solves phase 1 by fully corrective
Frank-Wolfe, which is not in the paper, to a gap of 1e-4. *paper, SPIDER* solves it by the paper's Algorithm 2, with as
many steps T as the M1 confirmed samples last for (M1 = sum of b_t, as in the theorem). Full labels, uniform guesses and
both of these are *simulated in law*: phase 1 is solved on M1 samples drawn at random, and of the rounds after it only
the number of yeses for each item is drawn; a test holds this against the learners themselves. The other learners run as
they are. What M1 is, how many runs there are and what the bars mean stands under each figure.
"""

TAIL = """## Where the rivals' constants come from

- EXP4: derived in `research/rivals/exp4.py`, in a few lines, with the constants of its regret bound.
- Policy Elimination: derived in `research/rivals/policy_elimination.py` by Freedman's inequality.
- ILOVETOCONBANDITS: as a formalisation of the publication states them (addresses in `research/rivals/iltcb.py` and
  `coordinate_descent.py`); the number of steps of its coordinate descent has a checked proof there.
- Banditron: the bound of Bubeck and Cesa-Bianchi (2012), Theorem 4.7, in the same collection, with a checked proof.
- The sparse-reward learner (Erez et al. 2024): only its abstract could be read. Its learning rates were not found, so
  they are tuned and no theorem is claimed for them.

## Beside Vowpal Wabbit

The one rival that can be installed is Vowpal Wabbit's `--cover`, an online variant of ILOVETOCONBANDITS that learns by
regression. `make bench-rivals` runs it on the same streams of 4,096 rounds; each system is tuned by its share of yes on
four streams, and these are means of eight others.

| stream | system | setting | guesses that were right | accuracy of what is returned |
|---|---|---|---|---|
| ten points, five labels | ILOVETOCONBANDITS as published | psi 100, scale 1 | 0.447 | 1.00 |
| | ILOVETOCONBANDITS tuned | psi 1, scale 0.01 | 0.708 | 0.90 |
| | `--cover` tuned | cover 16, psi 0.01, learning rate 0.5 | 0.783 | 1.00 |
| digits, 64 numbers | Banditron as published | gamma 0.135 | 0.432 | 0.667 |
| | Banditron tuned | gamma 0.3 | 0.445 | 0.816 |
| | `--cover` tuned | cover 1, psi 0.01, learning rate 5 | 0.344 | 0.461 |

On the points the best function is right 0.84 of the time. Vowpal Wabbit guesses better on the way there; it learns
after every round, and by regression, where the publication has epochs and importance-weighted estimates. As published,
ILOVETOCONBANDITS explores so much that it returns the best function while few of its guesses are right. "As published"
means for Banditron the gamma of the bound in `banditron.py`.

## What is not here

- The list learner of Erez and Koren (2025, arXiv 2502.09257): only its abstract could be found; the sequel improves on
  it, and is here: [sequel.md](sequel.md). Its rate for one label is order (K^7 + 1 / eps^2) log(N / delta).
- The exploration by optimisation of the sequel (its Algorithm 1), which solves T min-max problems for each prediction.
- RandomizedUCB (Dudik et al. 2011) and explore-first: both are built ([rivals.md](rivals.md)) and not measured. The
  first is the forerunner of ILOVETOCONBANDITS, with constraints of the same kind; its constants could not be checked.
  The second returns what uniform guesses return.
- Learners defined through the Littlestone dimension (Daniely et al. 2011, 2013; Long 2017; Raman et al. 2023): they
  need an oracle for that dimension, which no class here has. The realisable case is governed by the bandit DS dimension
  (Hanneke, Meng, Moran, Shaeiri 2026), which is likewise named and not built.
"""


def report(results: Path) -> str:
    """The page, from the JSON files in ``results``; experiments without one are left out and named."""
    parts: list[str] = []
    missing = []
    modes: dict[str, list[str]] = {"full": [], "quick": []}
    for experiment in EXPERIMENTS.values():
        path = results / f"{experiment.name}.json"
        try:
            content = json.loads(path.read_text())
            parts.append(section(experiment, content, results.name))
            modes[content["mode"]].append(experiment.title.split()[0])
        except (FileNotFoundError, KeyError):
            # A KeyError: what was kept is of an older version, whose rows had other figures.
            missing.append(experiment.name)
    parts = [HEAD, _modes(modes), grids(), *parts]
    if missing:
        parts.append(f"Not run yet, or by an older version only: {', '.join(missing)}.\n")
    return "\n".join([*parts, TAIL])


def _modes(modes: dict[str, list[str]]) -> str:
    """Which experiments were run at which size."""
    words = [f"in {mode} mode {', '.join(letters)}" for mode, letters in modes.items() if letters]
    return f"Run {'; '.join(words)}. Full mode (`--full`) has more runs, larger K, N or tables, or smaller eps.\n"


def grids() -> str:
    """What the rivals are tuned over, in words."""
    lines = [f"- {name}: {_settings(grid)}" for name, grid in rival_runs.GRIDS.items()]
    lines += [f"- {name}, in (c): {_settings(grid)}" for name, grid in exploration.GRIDS.items() if len(grid) > 1]
    lines.append(f"- EXP4, in (h): {_settings(online_to_batch.GRID)}")
    return (
        "What rivals are tuned over; the publication's setting comes first. A setting is picked on runs of its own and "
        "reported on others. For EXP4 the numbers multiply the publication's gamma and rate, for the sparse-reward "
        "learner the rate sqrt(ln N / T). Both learn after every 16 rounds here, not after each.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def _settings(grid: list[dict[str, float]]) -> str:
    return "; ".join(", ".join(f"{key} {value:g}" for key, value in setting.items()) or "as it is" for setting in grid)


def section(experiment: Experiment, content: dict[str, Any], folder: str) -> str:
    """One experiment of the page."""
    rows = content["rows"]
    found = "\n".join(f"- {sentence}" for sentence in experiment.findings(rows))
    return (
        f"## {experiment.title}\n\n"
        f"**Claim.** {experiment.claim}\n\n"
        f"![{experiment.headline}]({folder}/{experiment.name}.svg)\n\n"
        f"**{experiment.headline}.** {experiment.made(rows)}\n\n"
        f"**Found** ({content['mode']} mode, {content['cpu_seconds']:.0f} s of CPU).\n\n{found}\n\n"
        f"<details><summary>Table</summary>\n\n{markdown(experiment.summary(rows))}\n</details>\n"
    )
