"""Questions of several clients, put to one engine together.

Every request runs in a thread of its own and waits for its answers; one thread gathers what is
asked within a short window and calls the engine. Answers do not depend on who else is asking: an
engine's batches never change a number, and a question that fails fails for its asker alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from tertium.errors import TertiumError

BYTES_PER_TOKEN = 4

Engine = Callable[[Hashable, Sequence[Any]], Sequence[Any]]
"""From an operation and its questions to as many answers."""


class StoppedError(TertiumError):
    """The client is gone, or its time is up, or the server is."""


class Call:
    """One client's request: it has a time to end, and the client may go before that."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._given_up = False

    @property
    def left(self) -> float:
        """Seconds until the end; 0 once nobody waits for the answer."""
        return 0.0 if self._given_up else max(0.0, self._end - time.monotonic())

    def give_up(self) -> None:
        """Nobody waits for the answer any more."""
        self._given_up = True

    def check(self) -> None:
        """Stop here if nobody waits for the answer."""
        if not self.left:
            raise StoppedError("nobody waits for this answer any more")


@dataclass(eq=False)
class Asked:
    """Questions of one call for one operation, and the answers so far."""

    operation: Hashable
    questions: Sequence[Any]
    tokens: Sequence[int]
    call: Call
    arrived: float
    answers: list[Any] = field(default_factory=list)
    result: Future[list[Any]] = field(default_factory=Future)

    @property
    def open_tokens(self) -> int:
        return sum(self.tokens[len(self.answers) :])


@dataclass(frozen=True)
class Share:
    """Those questions of a call that are put to the engine now."""

    asked: Asked
    end: int

    @property
    def questions(self) -> Sequence[Any]:
        return self.asked.questions[len(self.asked.answers) : self.end]


class Gatherer:
    """A line of questions before an engine that one thread works off, a budget at a time.

    Everybody in the line gets a share of each round, so that a short request need not wait for a
    long one to end.

    >>> gatherer = Gatherer(lambda operation, questions: [len(each) for each in questions])
    >>> gatherer.ask("length", ["one", "three"], [1, 1], Call(seconds=5))
    [3, 5]
    >>> gatherer.close()
    """

    def __init__(
        self,
        engine: Engine,
        *,
        window: float = 0.0,
        budget: int = 8192,
        callers: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.engine = engine
        self.window = window
        self.budget = budget
        self.callers = callers
        """How many calls there are: once all of them stand in the line, nobody is waited for."""
        self.rounds = 0
        """How often the engine was called."""
        self._line: deque[Asked] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="tertium-gatherer", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def ask(
        self, operation: Hashable, questions: Sequence[Any], tokens: Sequence[int], call: Call
    ) -> list[Any]:
        """Wait in the line, and for the answers, as long as the call lasts."""
        call.check()
        if not questions:
            return []
        asked = Asked(operation, questions, tokens, call, time.monotonic())
        with self._changed:
            if self._closed:
                raise StoppedError("the server is closing")
            self._line.append(asked)
            self._changed.notify()
        try:
            return asked.result.result(timeout=call.left)
        except TimeoutError:
            call.give_up()
            raise StoppedError("the time for this request is up") from None

    def close(self) -> None:
        """Finish the round, and let nobody wait for another."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._line or self._closed)
                self._wait_for_company()
                if self._closed:
                    for asked in self._line:
                        asked.result.set_exception(StoppedError("the server is closing"))
                    return
                shares = self._take()
            if shares:
                self._answer(shares)

    def _wait_for_company(self) -> None:
        end = self._line[0].arrived + self.window if self._line else 0.0
        while not self._closed and (rest := end - time.monotonic()) > 0:
            full = sum(asked.open_tokens for asked in self._line) >= self.budget
            if full or len(self._line) >= self.callers():
                return
            self._changed.wait(rest)

    def _take(self) -> list[Share]:
        """Take out of the line, for the operation that is first in it, what fits the budget."""
        for asked in [asked for asked in self._line if not asked.call.left]:
            self._line.remove(asked)
            asked.result.set_exception(StoppedError("nobody waits for this answer any more"))
        if not self._line:
            return []
        operation = self._line[0].operation
        together = [asked for asked in self._line if asked.operation == operation]
        self._line = deque(asked for asked in self._line if asked.operation != operation)
        left = self.budget
        ends = [len(asked.answers) + 1 for asked in together]  # one at least, however long it is
        left -= sum(asked.tokens[end - 1] for asked, end in zip(together, ends, strict=True))
        for share in (max(left, 0) // len(together), max(left, 0)):
            for place, asked in enumerate(together):
                room = min(share, left)
                while ends[place] < len(asked.questions) and asked.tokens[ends[place]] <= room:
                    room -= asked.tokens[ends[place]]
                    left -= asked.tokens[ends[place]]
                    ends[place] += 1
        return [Share(asked, end) for asked, end in zip(together, ends, strict=True)]

    def _answer(self, shares: Sequence[Share]) -> None:
        questions = [question for share in shares for question in share.questions]
        try:
            answers = iter(self._call(shares[0].asked.operation, questions))
        except Exception as error:
            if len(shares) == 1:
                shares[0].asked.result.set_exception(error)
                return
            for share in shares:  # whose fault it is will show
                self._answer([share])
            return
        unfinished = []
        for share in shares:
            asked = share.asked
            asked.answers += [next(answers) for _ in share.questions]
            if len(asked.answers) == len(asked.questions):
                asked.result.set_result(asked.answers)
            else:
                unfinished.append(asked)
        with self._changed:
            self._line.extend(unfinished)

    def _call(self, operation: Hashable, questions: Sequence[Any]) -> Sequence[Any]:
        self.rounds += 1
        answers = self.engine(operation, questions)
        if len(answers) != len(questions):
            raise RuntimeError(f"{len(answers)} answers to {len(questions)} questions")
        return answers


def estimated_tokens(*texts: str) -> int:
    """About how many tokens some texts have: a piece holds some four bytes.

    >>> estimated_tokens("Good morning!", "")
    4
    """
    return 1 + sum(len(text.encode("utf-8", "replace")) for text in texts) // BYTES_PER_TOKEN
