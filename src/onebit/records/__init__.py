"""The frozen records that pass between the parts: question and answer, setting, epochs, the spec of a study."""

from onebit.records.epochs import Closing, EpochPlan, EpochRecord
from onebit.records.gate import Comparison, GateVerdict, passes
from onebit.records.numbers import Count, Finite, Propensity
from onebit.records.packed import PackedRecords
from onebit.records.placing import Placing
from onebit.records.question import Answer, Question, RunStatus, Status
from onebit.records.selection_spec import EPS, SelectionSpec
from onebit.records.sequel_spec import SequelSpec
from onebit.records.setting import (
    ANSWERS_PER_ITEM,
    DELTA,
    AskingProtocol,
    Population,
    ProtocolChoice,
    SelectorName,
    Setting,
    TrainingProtocol,
    TrainingSetting,
)
from onebit.records.spec import SECONDS_PER_ANSWER, StudySpec
from onebit.records.training_spec import TrainingSpec
from onebit.records.watch import WatchSetting, WatchSoFar
from onebit.records.watch_spec import WatchSpec

__all__ = [
    "ANSWERS_PER_ITEM",
    "DELTA",
    "EPS",
    "SECONDS_PER_ANSWER",
    "Answer",
    "AskingProtocol",
    "Closing",
    "Comparison",
    "Count",
    "EpochPlan",
    "EpochRecord",
    "Finite",
    "GateVerdict",
    "PackedRecords",
    "Placing",
    "Population",
    "Propensity",
    "ProtocolChoice",
    "Question",
    "RunStatus",
    "SelectionSpec",
    "SelectorName",
    "SequelSpec",
    "Setting",
    "Status",
    "StudySpec",
    "TrainingProtocol",
    "TrainingSetting",
    "TrainingSpec",
    "WatchSetting",
    "WatchSoFar",
    "WatchSpec",
    "passes",
]
