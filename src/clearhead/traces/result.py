"""What a trace holds: a view of every layer, for every sequence, of every forward there was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.languages import RefusedError, speaking
from clearhead.traces.facts import Facts
from clearhead.traces.naming import not_there, role, stacks
from clearhead.traces.reading import Grouping, Reading, of_entry, read
from clearhead.traces.sharing import Shares, shared_out
from clearhead.traces.tables import HeadScores, HeadTable
from clearhead.traces.takes import Take
from clearhead.views import Distances, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from clearhead.torch.watching import Spread
    from clearhead.traces.attribution import Attribution
    from clearhead.traces.effects import Effects
    from clearhead.traces.scratch import Scratch
    from clearhead.traces.value_norms import ValueNorms


class Trace:
    """The attention of a model that was called in a block: see `clearhead.trace`.

    trace[3]                    the View of a layer, by number where the model has one stack of attention layers
    trace["model.layers.3…"]    by the path of its module, always; `names` lists the paths
    trace.encoder[3]            by number in a stack, where there are several: encoder, decoder, cross
    trace.calls[0]              the trace of one forward alone, where there were several in the block
    trace.sequences[2]          the trace of one sequence of a batch alone; its padding is left out

    A view is computed when it is first asked for, from the queries and keys that were kept.
    """

    def __init__(
        self,
        takes: list[Take],
        about: Mapping[str, Any],
        *,
        top_k: int = 8,
        map_size: int = 512,
        entry: int | None = None,
    ) -> None:
        self._takes, self.about, self._entry = takes, dict(about), entry
        self._top_k, self._map_size = top_k, map_size
        self._tokenizer: Any = None
        self._text: str | Sequence[str] | None = None
        self._messages: Any = None
        self._readings: dict[tuple[Take, int], _Read] = {}
        self._model: Any = None
        self.facts = Facts()  # where the heads lead to, where values were kept

    # Parts of it

    @property
    def calls(self) -> list[Trace]:
        """The forwards there were, each a trace; the steps of a generation are one."""
        return [self._part([take], self._entry) for take in self._takes]

    @property
    def sequences(self) -> list[Trace]:
        """The sequences of the batch, each a trace."""
        take = self._take()
        entries = range(take.batch) if self._entry is None else [self._entry]
        return [self._part([take], entry) for entry in entries]

    def _part(self, takes: list[Take], entry: int | None) -> Trace:
        part = Trace(takes, self.about, top_k=self._top_k, map_size=self._map_size, entry=entry)
        part._tokenizer, part._text, part._messages = self._tokenizer, self._text, self._messages
        part.facts, part._model = self.facts, self._known_model()
        return part

    def _known_model(self) -> Any:
        """The model that was traced, where it was traced in this process."""
        return getattr(getattr(self._takes, "recorder", None), "model", self._model)

    def _take(self) -> Take:
        if not self._takes:
            raise ValueError("nothing was traced: call the model inside the block, with ch.trace(model) as trace: …")
        if len(self._takes) > 1:
            raise ValueError(
                f"the model was called {len(self._takes)} times in the block; trace.calls[0] is the first forward alone"
            )
        return self._takes[0]

    def _sequence(self) -> tuple[Take, int]:
        take = self._take()
        if self._entry is None and take.batch > 1:
            raise ValueError(
                f"there were {take.batch} sequences in the batch; trace.sequences[0] is the first one alone, without "
                "its padding"
            )
        return take, self._entry or 0

    # Layers

    @property
    def names(self) -> list[str]:
        """The paths of the layers, in the order in which they were called."""
        return list(dict.fromkeys(name for take in self._takes for name in take.names))

    @property
    def stacks(self) -> dict[str, dict[int, str]]:
        """The stacks of layers, by their path with * for the number, each with its layers' names by number."""
        return stacks(self.names)

    @property
    def encoder(self) -> Stack:
        """The encoder's layers, by number."""
        return self._stack("encoder")

    @property
    def decoder(self) -> Stack:
        """The decoder's layers that look at their own sequence, by number."""
        return self._stack("decoder")

    @property
    def cross(self) -> Stack:
        """The layers that look from the decoder at what the encoder read, by number."""
        return self._stack("cross")

    def _stack(self, wanted: str) -> Stack:
        found = {path: layers for path, layers in self.stacks.items() if role(path) == wanted}
        if len(found) != 1:
            there = ", ".join(self.stacks)
            what = f"no {wanted}" if not found else f"more than one {wanted}"
            raise AttributeError(f"there is {what} among the stacks of this model: {there}; a path names a layer")
        return Stack(self, next(iter(found.values())))

    def __getitem__(self, layer: int | str) -> View:
        if isinstance(layer, str):
            if layer not in self.names:
                raise not_there(layer, self.names)
            return self._view(layer)
        self._sequence()
        found = self.stacks
        if len(found) > 1:
            raise KeyError(
                f"layers have no numbers of their own here, as there are {len(found)} stacks: {', '.join(found)}; use "
                "trace.encoder, trace.decoder or trace.cross, or a path from trace.names"
            )
        return Stack(self, next(iter(found.values()), {}))[layer]

    def __iter__(self) -> Iterator[View]:
        """The views of all layers, in order."""
        return (self._view(name) for name in self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _view(self, name: str) -> View:
        take, entry = self._sequence()
        piece = take.piece(name, entry)
        tokens = self.labels(name)
        return piece.view(self._top_k, self._map_size, *tokens)

    # Labels

    def label(
        self, tokenizer: Any, text: str | Sequence[str] | None = None, *, messages: Sequence[Any] | None = None
    ) -> Trace:
        """Name positions by their text, from now on: what a token stands for, Korean and bytes included.

        tokenizer: of Hugging Face. text: what the ids were made from, if it is known. messages: the conversation that
        the tokenizer's chat template wrote it from, {"role": …, "content": …} each, for `parts`. Either may be a list
        with one for each sequence of a batch. → this trace
        """
        self._tokenizer, self._text, self._messages = tokenizer, text, messages
        self._readings.clear()
        return self

    def labels(self, name: str) -> tuple[list[Any] | None, list[Any] | None]:
        """What the queries and the keys of a layer are called: their tokens, or ids where there is no tokenizer."""
        take, entry = self._sequence()
        piece = take.piece(name, entry)
        own, source = (None if x is None else x.labels for x in self._read(take, entry))
        if source is None:
            choices: tuple[Any, ...] = (own, own)
        else:
            choices = {"encoder": (source, source), "decoder": (own, own), "cross": (own, source)}[role(name)]
        sizes = piece.sizes
        found = [x if x is not None and len(x) == n else None for x, n in zip(choices, sizes, strict=True)]
        if found == [None, None]:
            return None, None
        queries, keys = (list(map(str, range(n))) if x is None else x for x, n in zip(found, sizes, strict=True))
        return queries, keys

    def _read(self, take: Take, entry: int) -> tuple[Reading | None, Reading | None]:
        """What the tokens of a sequence read as, and those that an encoder read beside it."""
        ids, known = take.ids(entry), self._readings.get((take, entry))
        if known is None or not known.is_of(ids):  # a generation that goes on has more of them
            saved = take.readings(entry) if self._tokenizer is None else (None, None)
            text = of_entry(self._text, entry, take.batch, "text")
            messages = of_entry(self._messages, entry, take.batch, "messages")
            own, source = ids
            told: tuple[Any, Any] = (text, messages)
            nothing = (None, None)
            known = self._readings[take, entry] = _Read(
                ids,
                (
                    saved[0] or read(own, self._tokenizer, *(told if source is None else nothing)),
                    saved[1] or read(source, self._tokenizer, *told),
                ),
            )
        return known.readings

    @property
    def words(self) -> Grouping:
        """The positions in words, for `shares` and `View.grouped`: of the text that `label` tells of."""
        return self._grouping("word")

    @property
    def sentences(self) -> Grouping:
        """The positions in sentences, likewise."""
        return self._grouping("sentence")

    @property
    def parts(self) -> Grouping:
        """The positions by who speaks: "system", "user", "assistant", "user 2" …, what the chat template adds around
        them, "template", and what the model wrote after them, "generated". `label` has to know the messages."""
        return self._grouping("part")

    def _grouping(self, by: str) -> Grouping:
        own, source = self._read(*self._sequence())
        reading = own if source is None else source
        if reading is None:
            raise ValueError(f"the model was not called with ids of tokens, which would make up each {by}")
        return reading.grouped(by, source=source is not None)

    def ids(self) -> np.ndarray | None:
        """The ids of the sequence's tokens, without padding, where they are known."""
        take, entry = self._sequence()
        return take.ids(entry)[0]

    # What heads do

    def patterns(self) -> HeadTable:
        """What each head of each layer does: a table, by `View.patterns`."""
        return HeadTable({name: self._view(name).patterns() for name in self.names})

    def shares(self, groups: Grouping, of: str | None = None) -> Shares:
        """The share of its attention that each head gives to each group of positions: a table, streamed.

            trace.shares(trace.parts, of="generated")       # whose words the answer looks at

        groups: `parts`, `words` or `sentences`. of: the group whose queries are asked, all of them unless given.
        """
        self._must_be_here("trace.shares")
        return shared_out(self, groups, of)

    def plot(self, statistic: str = "pattern", **options: Any) -> Figure:
        """A figure of all layers and heads: see `clearhead.visualize_layers`."""
        if statistic != "pattern":
            self._must_be_here(f"trace.plot({statistic!r})")
        from clearhead.figures import visualize_layers

        views = [self._view(name) for name in self.names]
        shown = [view.patterns() for view in views] if statistic == "pattern" else views
        return visualize_layers(shown, statistic, layer_names=self._short_names(), **options)

    def _short_names(self) -> list[str]:
        found = self.stacks
        if len(found) == 1:
            return [str(number) for number in next(iter(found.values()))]
        number_of = {name: (path, number) for path, layers in found.items() for number, name in layers.items()}
        return [f"{role(name)} {number_of[name][1]}" for name in self.names]

    def effects(
        self,
        measure: Callable[[], Any],
        *,
        way: str = "zero",
        layers: Any = None,
        model: Any = None,
        resume: str | Path | None = None,
        progress: bool = True,
    ) -> Effects:
        """What a number of the model's becomes without each head: zeroed, or replaced by its "mean".

            trace.effects(lambda: model(**inputs, labels=ids).loss)

        measure: calls the model and returns one number, a loss or a logit. layers: which to try, as in `trace`; all
        that were traced unless given. resume: a file in which numbers are kept as they come, and found again by the
        next call. model: the one that was traced, where this trace comes from a file. There is a run for each head.
        """
        self._must_be_here("trace.effects")
        from clearhead.traces.effects import measured
        from clearhead.traces.naming import checked_layers, is_wanted

        checks.choice("way", way, ("zero", "mean"))
        checked_layers(layers)
        model = self._known_model() if model is None else model
        if model is None:
            raise ValueError(
                "this trace does not know its model any more; give it: trace.effects(measure, model=model)"
            )
        take = self._takes[0]
        heads = {
            name: int(take.piece(name, 0).q.shape[0])
            for name in take.names
            if ":" not in name and is_wanted(name, layers)
        }
        return measured(model, heads, measure, way=way, resume=resume, progress=progress)

    def distances(self) -> dict[str, Distances]:
        """How far away the heads of each layer look, by `View.distances`; `mean_distance` has the means as a table."""
        self._must_be_here("trace.distances")
        return {name: self._view(name).distances() for name in self.names}

    def mean_distance(self) -> HeadScores:
        """How far back each head looks: the mean of i − j under its weights."""
        return HeadScores({name: np.asarray(found.mean) for name, found in self.distances().items()}, "mean of i − j")

    def retrieval(self, needle: Any, generated: Any) -> HeadScores:
        """The retrieval score of each head for a needle in a long text (Wu et al., 2024, Retrieval_Head).

            out = model.generate(ids, max_new_tokens=20)        # in the block
            trace.retrieval(slice(100, 112), out[0, ids.shape[1]:])

        Each generated token counts 1 / needle length for a head whose strongest key, where it was generated, lies in
        the needle and is that token. needle: a run of positions in the text, a slice or a range, padding left out.
        generated: the ids that the model added, with the last, which it never read itself.
        """
        self._must_be_here("trace.retrieval")
        from clearhead.traces.retrieval import retrieval

        return retrieval(self, needle, generated)

    def value_norms(self, *, projections: Mapping[str, Any] | None = None, model: Any = None) -> ValueNorms:
        """Attention × value norm, A · ‖v W_Oʰ‖ (Kobayashi et al., 2020): weights by the length of what they move.

        Needs values: trace(model, values=True). projections: output projections that were not found, or others, by the
        layer's name: a module, or a matrix (h·d_v, width). model: the one traced, where this trace is from a file.
        """
        self._must_be_here("trace.value_norms")
        from clearhead.traces.value_norms import value_norms

        return value_norms(self, projections, model)

    def attribution(
        self,
        token: int,
        position: int = -1,
        *,
        against: int | None = None,
        projections: Mapping[str, Any] | None = None,
        model: Any = None,
    ) -> Attribution:
        """Direct logit attribution: what each head, and each token that it looks at, adds to a logit by itself.

        The logit of `token` at a position, or how much it is above that of `against`; with the scale of the last norm
        held fast, it is a sum over heads, and a head's part a sum over keys. Needs values: trace(model, values=True).
        projections, model: as in `value_norms`.

        Raises:
            NotImplementedError: what heads give does not reach the logits as it is, as where a norm follows the output
                projection (Gemma 2 and 3), or the stream is normed between blocks (BERT), or scaled (Granite).
        """
        self._must_be_here("trace.attribution")
        from clearhead.traces.attribution import attribution

        return attribution(self, token, position, against=against, projections=projections, model=model)

    def relevance(
        self, position: int = -1, *, among: str | None = None, progress: bool = True
    ) -> Float[np.ndarray, " n"]:
        """Gradient × attention for one target (Chefer et al., 2021): how relevant each position is to it: → (n)

            with ch.trace(model, gradients=True) as trace:
                model(ids).logits[0, -1, token].backward()
            trace.relevance(-1)

        The row at `position` of R, with R = 1 before the first layer and R ← R + mean over heads of (∇A ⊙ A)₊ R in
        each, and ∇A[q, k] = dO_q · v_k; streamed, a strip of queries at a time. Of an encoder and decoder, `position`
        is the decoder's, and R what it takes from what the encoder read, by the rules for cross-attention that are told
        in `clearhead.traces.relevance`.

        among: the positions that are judged, where there is an encoder beside a decoder: its "source" unless given, or
            the decoder's "own".
        """
        self._must_be_here("trace.relevance")
        from clearhead.traces.relevance import relevance

        return relevance(self, position, among=among, progress=progress)

    def to_html(
        self,
        path: str | Path,
        *,
        beside: Mapping[str, Trace] | None = None,
        effects: Effects | None = None,
        **options: Any,
    ) -> Path:
        """Write a page to walk through every head of the model in a browser: one file. → its path

        Stacks are side by side, what was generated can be walked through step by step, and a model that was given an
        image shows what its patches look at. beside: other traces to compare with, by name, such as one without a
        head. effects: what `effects` measured, to sort heads by. Other options, such as title, language and megabytes,
        are told in `clearhead.page.write`.
        """
        self._must_be_here("trace.to_html")
        from clearhead.page import write
        from clearhead.traces.paging import page_of

        with speaking(options.get("language")):
            layers, options = page_of(self, beside, effects, options)
            return write(path, layers, **options)

    def show(self, *, beside: Mapping[str, Trace] | None = None, effects: Effects | None = None, **options: Any) -> Any:
        """Show the page of this trace, in a notebook or a browser: see `to_html` and `clearhead.page.show`."""
        self._must_be_here("trace.show")
        from clearhead.page import show
        from clearhead.traces.paging import page_of

        with speaking(options.get("language")):
            layers, options = page_of(self, beside, effects, options)
        return show(layers, **options)

    def save(self, path: str | Path) -> None:
        """Write all of it into one safetensors file, which `clearhead.load_trace` opens at once whatever its size.

        Where the sequence is spread over processes, every rank calls it and writes a file of its own, beside that of
        rank 0, which has this name and opens all of them as one.
        """
        self._write(Path(path), None)

    def _write(self, path: Path, scratch: Scratch | None) -> str | None:
        """Write it, all ranks together where its sequence is spread over several. → what it is then known by"""
        over = self._over()
        if over is None:
            from clearhead.traces.storing import write

            write(path, self, scratch)
            return None
        from clearhead.traces.group_writing import write_together

        return write_together(path, self, over.group, scratch)

    def _over(self) -> Spread | None:
        """Where the sequence lies, if it is spread over processes."""
        found = (getattr(take, "over", None) for take in self._takes)
        return next((over for over in found if over is not None), None)

    def _must_be_here(self, what: str) -> None:
        """What needs all positions in one process is refused where they are spread over several."""
        if self._over() is not None:
            raise NotImplementedError(
                f"{what} needs all positions in one process, and this trace is spread over several: trace.save(path), "
                "on every rank, writes it, and in ch.load_trace(path) all of it is together; here trace[layer] and "
                "trace.patterns() answer, if every rank asks"
            )

    def __repr__(self) -> str:
        try:
            takes = len(self._takes)
        except RefusedError as error:  # it is in files that lie on several machines
            return f"<Trace of {self.about.get('model', 'a model')}: {error}>"
        if not takes:
            return "<Trace: nothing yet>"
        batch = f", sequence {self._entry}" if self._entry is not None else ""
        forwards = f", {takes} forwards" if takes > 1 else ""
        slow = ", weights of the model's own eager attention" if self.about.get("slow") else ""
        return f"<Trace of {self.about.get('model', 'a model')}: {len(self.names)} layers{forwards}{batch}{slow}>"


class _Read(NamedTuple):
    """What the ids of a sequence, its own and those that an encoder read beside it, read as."""

    ids: tuple[np.ndarray | None, np.ndarray | None]
    readings: tuple[Reading | None, Reading | None]

    def is_of(self, ids: tuple[np.ndarray | None, np.ndarray | None]) -> bool:
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in zip(self.ids, ids, strict=True)
        )


class Stack(Sequence[View]):
    """The layers of one stack, by number."""

    def __init__(self, trace: Trace, names: dict[int, str]) -> None:
        self.trace, self.names = trace, names

    def __getitem__(self, number: Any) -> Any:
        number = checks.count("layer", number, least=None)
        if number < 0:
            number += max(self.names, default=0) + 1
        if number not in self.names:
            raise IndexError(f"there is no layer {number}; there are {', '.join(map(str, self.names))}")
        return self.trace[self.names[number]]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[View]:
        return (self.trace[name] for name in self.names.values())

    def __repr__(self) -> str:
        return f"<Stack of {len(self)} layers: {', '.join(self.names.values())}>"
