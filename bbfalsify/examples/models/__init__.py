"""Example models by name and size: `bbfalsify reach --example fischer-faulty:10`.

They follow protocols from papers on timed automata, but are models of our own: times are comparable with published ones
only if model and query are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.examples.chains import CHAINS, chain_file
from bbfalsify.examples.models import (
    audio,
    difficult,
    gossip,
    herschel,
    protocols,
    scheduling,
    structures,
    untimed_protocols,
)
from bbfalsify.modelling import Network, load_model


@dataclass(frozen=True)
class Family:
    """A model for every size, and a query."""

    make: Callable[[int], Network]
    size: int
    """Default size."""
    smallest: int
    query: str
    text: str
    never: bool = False
    """True where no run reaches (E<>) or violates (A[]) what the query asks for, so that random walks cannot answer."""


_MUTUAL_EXCLUSION = "A[] (sum (i : id_t) P(i).cs) <= 1"
_ALL_RETRY = "E<> forall (i : id_t) P(i).retry"
_NOT_SPOILT = "A[] forall (i : id_t) not S(i).Error"
_ALL_KNOW = "E<> done && t <= T"

FAMILIES = {
    "fischer": Family(
        protocols.fischer, 5, 2, _MUTUAL_EXCLUSION, "Fischer's mutual exclusion; correct, so no walk ever violates it",
        never=True,
    ),
    "fischer-faulty": Family(
        lambda n: protocols.fischer(n, faulty=True), 5, 2, _MUTUAL_EXCLUSION,
        "Fischer's mutual exclusion, faulty: entering after x >= K instead of x > K",
    ),
    "fischer-crowd": Family(
        protocols.fischer, 5, 2, "E<> P(1).cs && (forall (i : id_t) i != 1 imply P(i).wait)",
        "the correct one: can all others wait while one is inside?",
    ),
    "csma-cd": Family(
        protocols.csma_cd, 5, 2, _ALL_RETRY,
        "stations on one wire that detect collisions, told one by one: can all have to try again at once?",
    ),
    "csma-cd-broadcast": Family(
        lambda n: protocols.csma_cd(n, broadcast=True), 5, 2, _ALL_RETRY,
        "stations on one wire that detect collisions, all told by one signal: can all have to try again at once?",
    ),
    "fddi": Family(
        protocols.fddi, 3, 2, "A[] forall (i : id_t) P(i).trt <= 2 * TTRT",
        "a token ring with timed transmissions; is the token always back after twice its target time?",
        never=True,
    ),
    "train-gate": Family(
        protocols.train_gate, 5, 2, "E<> Train(0).Cross && (forall (i : id_t) i != 0 imply Train(i).Stop)",
        "trains and a gate with a queue: can all others be stopped while one crosses?",
    ),
    "milner": Family(
        protocols.milner, 10, 2, "E<> z > SLOW",
        "Milner's scheduler: a token in a ring of workers; can a round take nearly as long as it ever may?",
    ),
    "leader-channels": Family(
        protocols.leader_channels, 4, 2, "E<> elected && t >= LATE",
        "leader election in a ring, priorities passed by channels: can it take long?",
    ),
    "leader-hops": Family(
        protocols.leader_hops, 4, 2, "E<> elected && t >= LATE",
        "leader election in a ring, priorities passed by a shared variable: can it take long?",
    ),
    "gossip-masks": Family(
        gossip.by_masks, 6, 2, _ALL_KNOW, "gossiping girls, secrets as bit masks, calls by handshakes: all in time?"
    ),
    "gossip-table": Family(
        gossip.by_table, 6, 2, _ALL_KNOW,
        "gossiping girls, secrets in a table of Booleans, merged by a function: all in time?",
    ),
    "gossip-exchange": Family(
        gossip.by_exchange, 6, 2, _ALL_KNOW, "gossiping girls, an exchange that puts the calls through: all in time?"
    ),
    "gossip-clusters": Family(
        gossip.by_masks, 6, 4, "E<> (forall (i : id_t) k[i] == (i < 2 ? 3 : ALL - 3))",
        "gossiping girls: two of them know just each other's secrets, and the others just theirs",
    ),
    "satellite": Family(
        scheduling.satellite, 70, 1, "E<> exists (i : id_t) Task(i).Missed",
        "32 preemptible tasks with shared resources; the size is the best case in per cent of the worst",
    ),
    "herschel": Family(
        herschel.herschel, 71, 1, "E<> exists (i : id_t) Task(i).Missed",
        "the tasks of two satellites as published (Herschel, Planck); the size is as in satellite",
    ),
    "lock": Family(difficult.combination_lock, 6, 1, "E<> Lock.Open", "a lock: one wrong digit starts anew"),
    "difficult-a7": Family(lambda n: difficult.a7(), 1, 1, "E<> P.Error", "figure A.7: difficult for RCF"),
    "difficult-b2": Family(lambda n: difficult.b2(), 1, 1, "E<> P.Goal", "figure B.2: a narrow window"),
    "difficult-b3": Family(lambda n: difficult.b3(), 1, 1, "E<> P.Goal", "figure B.3: difficult for RET"),
    "diamond": Family(
        structures.diamond, 9, 1, "E<> i == 0 && j == N",
        "a grid of states, hard for random walks at its corners (no time, as the next ones)",
    ),
    "back-loops": Family(
        structures.back_loops, 9, 1, "E<> P.Stuck", "one way to the end, and from every state on it a way back"
    ),
    "components": Family(
        structures.components, 5, 2, "E<> C.Out && id == N", "strongly connected components with one exit each"
    ),
    "philosophers": Family(
        structures.philosophers, 5, 2, "E<> deadlock", "dining philosophers who take the left fork first"
    ),
    "bounded-retransmission": Family(
        untimed_protocols.bounded_retransmission, 5, 1, "E<> S.GaveUp",
        "a file over channels that lose; the size is how often a chunk is sent again: can the sender give up?",
    ),
    "sliding-window": Family(
        untimed_protocols.sliding_window, 2, 1, "A[] not wrong",
        "frames numbered modulo the size of the window, one too few: is an old frame ever taken for a new one?",
    ),
    "sliding-window-right": Family(
        lambda n: untimed_protocols.sliding_window(n, faulty=False), 2, 1, "A[] not wrong",
        "frames numbered modulo one more than the window: an old frame is never taken for a new one", never=True,
    ),
    "lift": Family(
        untimed_protocols.lifts, 3, 3, "E<> exists (i : id_t) Lift(i).Error",
        "lifts for one truck that number themselves: can pressing two buttons confuse them?",
    ),
    "buffers": Family(
        untimed_protocols.buffers, 5, 1, "E<> received == N && t <= LOW",
        "units of data through three buffers to one receiver: can they all be fast?",
    ),
    "philips-audio": Family(
        audio.philips_audio, 1, 1, "A[] not wrong",
        "Philips' audio control protocol, clocks wrong by 5 per cent: is every message understood?", never=True,
    ),
    "philips-audio-faulty": Family(
        lambda n: audio.philips_audio(n, tolerance=6), 1, 1, "A[] not wrong",
        "Philips' audio control protocol, faulty: clocks wrong by 6 per cent",
    ),
    "audio-video": Family(
        audio.audio_video, 2, 1, _NOT_SPOILT,
        "Bang & Olufsen's bus: does every sender of a spoilt frame detect the collision?", never=True,
    ),
    "audio-video-faulty": Family(
        lambda n: audio.audio_video(n, faulty=True), 2, 2, _NOT_SPOILT,
        "Bang & Olufsen's bus, faulty: senders listen too early to detect every collision",
    ),
    "difficult-b8": Family(lambda n: difficult.b8(), 1, 1, "E<> P.Goal", "figure B.8: difficult for all"),
}  # fmt: skip


def named_model(name: str, constants: Mapping[str, object] | None = None) -> tuple[Network, Family]:
    """Make the model `NAME` or `NAME:SIZE`; models that are files may be given other constants."""
    word, _, size = name.partition(":")
    if word in CHAINS and not size:
        network, queries = load_model(chain_file(word), constants)
        return network, Family(lambda n: network, 1, 1, queries[0].text, CHAINS[word])
    if constants:
        raise UserError(f"constants of the example '{word}' cannot be set; those of these can: {', '.join(CHAINS)}.")
    if word not in FAMILIES:
        raise UserError(unknown_name("model", word, {**FAMILIES, **CHAINS}))
    family = FAMILIES[word]
    if size and not (size.isdigit() and family.smallest <= int(size) <= 10_000):
        raise UserError(f"the size of '{word}' is a number from {family.smallest} to 10000; found '{size}'.")
    return family.make(int(size) if size else family.size), family
