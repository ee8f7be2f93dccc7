"""Modes: what a round serves, by the names that inputs and plans carry, and what the same holds of. Pure.

Each set has the one reason for which it is asked; what holds of a mode alone is said where it is done.
"""

from __future__ import annotations

from pipeline import job_kinds
from pipeline.run_reports import MAINTAINED, VERIFIED

UPDATE, FULL = "update", "full"
#: Each of these is carried out by the kind of job that is called like it.
BACKFILL, VERIFY, MAINTAIN = job_kinds.BACKFILL, job_kinds.VERIFY, job_kinds.MAINTAIN
#: What a person asks for beside an update.
WISHES = (BACKFILL, FULL, VERIFY, MAINTAIN)
MODES = (UPDATE, *WISHES)
#: What each is called in a sentence.
CALLED = {UPDATE: "update", BACKFILL: "backfill", FULL: "full export", VERIFY: "verification", MAINTAIN: "maintenance"}
#: Those whose job may commit nothing, so that only its report proves that it is done; and what it says then.
REPORTED_AS = {VERIFY: VERIFIED, MAINTAIN: MAINTAINED}
#: What is told to its end, also where the schedule has begun it by itself, as a full export. Not maintenance, which is due
#: again whoever has asked for it.
TOLD_TO_THE_END = (BACKFILL, FULL, VERIFY)
#: Wishes whose job commits rows. They are tried some times and then given up, for the schedule's own work waits behind them;
#: who has rolled the table back to before one does not want it again; and a full export brings what either was to bring.
WISHES_FOR_ROWS = (BACKFILL, FULL)
#: What nobody but a person begins: that the schedule's own work succeeds says nothing of it.
ONLY_WISHED = (BACKFILL, VERIFY)
#: What the schedule does as a matter of course, so that its success is mailed only where a setting says so.
ROUTINE = (UPDATE, MAINTAIN)
#: What brings the table forward, or makes it anew: once it is carried out, the schedule's runs work.
BRINGS_FORWARD = (UPDATE, FULL)
#: What leaves the watermark where it was, so that nothing is to be recorded of it.
LEAVES_WATERMARK = (BACKFILL, VERIFY, MAINTAIN)
