"""Real models, every head of them: what their attention does while they run, in O(n) memory, in memory or in a file."""

from clearhead.traces.opening import trace
from clearhead.traces.probing import Probe, probe, sink_share, sinks
from clearhead.traces.result import HeadTable, Stack, Trace
from clearhead.traces.storing import load_trace

__all__ = ["HeadTable", "Probe", "Stack", "Trace", "load_trace", "probe", "sink_share", "sinks", "trace"]
