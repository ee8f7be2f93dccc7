"""The mails beside those that tell how a run has ended: the all-clear, the warnings, and the daily digest."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from pipeline import run_reports
from pipeline.deployment import Deployment
from pipeline.errors import REBUILD, VERIFY_NOW
from pipeline.events import StateEvent
from pipeline.instants import format_instant
from pipeline.mails.commands import filled
from pipeline.mails.digest import Digest
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import CLEARED, SUCCESS, WARNING, Mail, history_line, links, subject
from pipeline.mails.incidents import News
from pipeline.mails.told import Incident
from pipeline.mails.warning import warning_mail
from pipeline.planning.execution_input import meant_for
from pipeline.planning.horizon import Horizon
from pipeline.table.continuity import Doubt
from pipeline.table.drift import drift_of, told_drift
from pipeline.table.record_counts import accounting
from pipeline.wording import number_of, words


def notices(
    event: StateEvent,
    table: str,
    news: News,
    horizon: Horizon | None,
    deployment: Deployment,
    failure: Failure | None = None,
) -> list[Mail]:
    """Write the mails of the news, but for a failure's own. `failure`: what the run has failed with, if it has.

    `event` is that of the state that tells: input, execution, plan (empty if planning failed), and, but for NotifyFailure, with
    which no incident ends, startedAt.
    """
    mails = []
    if news.over or news.safe_again or news.trusted_again:
        mails.append(_all_clear(event, table, news, horizon, deployment))
    if news.doubt:
        mails.append(_doubt(event, table, news.doubt, deployment))
    if news.warning and horizon:
        mails.append(warning_mail(event, table, news, horizon, deployment, failure))
    if news.digest:
        mails.append(_digest_mail(event, table, news.digest, horizon, deployment))
    return mails


def _all_clear(event: StateEvent, table: str, news: News, horizon: Horizon | None, deployment: Deployment) -> Mail:
    """One mail for all that is over."""
    incident = news.over
    facts: dict[str, Any] = {"status": CLEARED, "table": table, "execution": event["execution"]}
    # Where nothing has ended, runs may still fail, or the table be paused.
    what, lines = "history is safe again", [f"All clear: the history of {table} is safe again."]
    if incident:
        lines = [f"All clear: {table} is {'maintained' if incident.is_of_maintenance else 'followed'} again."]
        ended, tick = meant_for(event), timedelta(minutes=event["plan"]["tick_minutes"])
        lines += ["", *_story(incident, ended, tick), *_caught_up(incident, horizon)]
        facts |= {
            "since": format_instant(incident.first.since),
            "until": format_instant(ended),
            "failed_ticks": 0 if incident.is_of_maintenance else incident.ticks_until(ended, tick),
            "failures": [{"error": k.error, "state": k.state, "mode": k.mode} for k in incident.kinds],
        }
        what = f"{incident.kinds[-1].error} is over"
    elif news.trusted_again:
        what, lines = "its rows are the source's", [f"All clear: the rows of {table} are the source's."]
    if news.safe_again:
        lines += ["", "The warnings that its history runs out no longer hold."]
    if news.trusted_again:
        lines += ["", "It has been verified, or made anew, since the warning that rows were not what the changes say."]
    lines += ["", *history_line(horizon), "", *links(event["execution"], deployment)]
    return Mail(CLEARED, table, subject(deployment, "ALL CLEAR", table, what), lines, facts)


def _story(incident: Incident, ended: datetime, tick: timedelta) -> list[str]:
    """What it was, since when, and what it cost."""
    count = incident.ticks_until(ended, tick)
    lines = ["What had failed:", *(f"  {kind}" for kind in incident.kinds)]
    since = incident.first.since
    lasted = f"From {format_instant(since)} to {format_instant(ended)}, {words(ended - since)}"
    if incident.is_of_maintenance:
        return [*lines, f"{lasted}. Updates have no part in it."]
    return [*lines, f"{lasted}: {number_of(count, 'tick')} of the schedule without success."]


def _caught_up(incident: Incident, horizon: Horizon | None) -> list[str]:
    """What the table was brought forward by; a full export may also have begun anew."""
    if horizon is None or incident.is_of_maintenance:
        return []
    now, then = format_instant(horizon.watermark), incident.first.watermark
    if then is None:
        return [f"The table shows every change before {now}."]
    if then > horizon.watermark:
        was = f"where it was when this began, {format_instant(then)}"
        return [f"The table is at {now}, before {was}: somebody has rolled it back since, or it was made anew."]
    if then == horizon.watermark:
        return [f"The table is at {now}, as it was: nothing had to be caught up."]
    return [f"Caught up: {words(horizon.watermark - then)} of history, from {format_instant(then)} to {now}."]


def _doubt(event: StateEvent, table: str, doubt: Doubt, deployment: Deployment) -> Mail:
    """A merge has met rows that were not what its changes say."""
    watermark, command = format_instant(doubt.watermark), filled(VERIFY_NOW, table, deployment)
    report = deployment.report_uri(table, doubt.job_id)
    lines = [
        f"{table} was brought up to {watermark}, but its rows were not those that the changes tell of:",
        "",
        doubt.said,
        "",
        "Changes from before are missing in the table, or somebody else has written to it.",
        "What to do: Compare the table with its source; where they differ, replace its content by a new full export.",
        f"The command: {command}",
        f"If they differ: {filled(REBUILD, table, deployment)}",
        "",
        "You get this mail once. It can come again only after a verification or a full export; each run's report still says it.",
        *links(event["execution"], deployment),
        f"Report: {report}",
    ]
    facts = {
        "status": WARNING,
        "table": table,
        "watermark": watermark,
        "continuity": doubt.said,
        "command": command,
        "execution": event["execution"],
        "report": report,
    }
    headline = subject(deployment, "WARNING", table, "rows were not what the changes say")
    return Mail(WARNING, table, headline, lines, facts)


def _digest_mail(
    event: StateEvent, table: str, digest: Digest, horizon: Horizon | None, deployment: Deployment
) -> Mail:
    """The sum of one day, or of several if the table was behind."""
    runs, read = sum(digest.jobs.values()), digest.counts.get("read", 0)
    done = ", ".join(number_of(count, job) for job, count in sorted(digest.jobs.items()))
    lines = [
        f"{table} on {digest.days} (UTC), by what the table's own commits say.",
        "",
        f"Runs with work: {runs} ({done}).",
        *accounting("", digest.counts),
    ]
    if digest.anew:
        lines.append(
            f"The table was made anew by the full export at {format_instant(digest.anew)}: what was done before it has gone "
            "with what the table was, and is not in these sums."
        )
    if digest.left_from:
        lines.append(
            f"Of before {format_instant(digest.left_from)} commits have expired: what had come since the last digest is not in "
            "these sums."
        )
    lines += told_drift(digest.found or drift_of({}), digest.counts.get("misfits", 0))
    lines.append(
        f"What each run has found: {deployment.database}.{run_reports.TABLE}, {run_reports.PARTITION} = '{table}'."
    )
    if horizon:
        lines += ["", f"The table shows every change before {format_instant(horizon.watermark)}."]
    lines += [*history_line(horizon), "", *links(event["execution"], deployment)]
    what = f"{digest.days}, {number_of(runs, 'run')}, {number_of(read, 'record')}"
    facts = {"status": SUCCESS, "table": table, "digest": digest.to_json(), "execution": event["execution"]}
    return Mail(SUCCESS, table, subject(deployment, "OK", table, what), lines, facts)
