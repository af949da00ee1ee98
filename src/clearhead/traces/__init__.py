"""Real models, every head of them: what their attention does while they run, in O(n) memory, in memory or in a file."""

from clearhead.traces.attribution import Attribution
from clearhead.traces.effects import Effects
from clearhead.traces.opening import trace
from clearhead.traces.probing import Induction, Probe, induction, probe, sink_share, sinks
from clearhead.traces.result import Stack, Trace
from clearhead.traces.storing import load_trace
from clearhead.traces.tables import HeadScores, HeadTable
from clearhead.traces.value_norms import ValueNorms

__all__ = [
    "Attribution",
    "Effects",
    "HeadScores",
    "HeadTable",
    "Induction",
    "Probe",
    "Stack",
    "Trace",
    "ValueNorms",
    "induction",
    "load_trace",
    "probe",
    "sink_share",
    "sinks",
    "trace",
]
