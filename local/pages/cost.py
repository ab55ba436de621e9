"""What a stack costs a month, from prices, measurements and a load: `python -m local.pages.cost [name=value …]` prints the tables of docs/cost.md."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

_MILLION = 1_000_000
_HOURS = 730
_MINUTES = _HOURS * 60
_GB = 1_000_000_000
# One whole processor has this much memory in Lambda.
_MB_PER_PROCESSOR = 1_769


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars, us-east-1, as of November 2026; without free tiers, discounts and taxes. Check them."""

    api_million: float = 1.00
    lambda_million: float = 0.20
    lambda_gb_second: float = 0.0000166667
    sns_million: float = 0.50
    sns_https_million: float = 0.60
    sqs_million: float = 0.40
    acu_hour: float = 0.12
    io_million: float = 0.20
    storage_gb: float = 0.10
    logs_gb: float = 0.50
    traces_million: float = 5.00
    endpoint_hour: float = 0.01
    scheduler_million: float = 1.00
    secret: float = 0.40
    alarm: float = 0.10
    metric: float = 0.30
    key: float = 1.00


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measured on a machine with two busy cores and MariaDB; docs/cost.md says how."""

    trigger_cpu_ms: float = 2.65
    ack_cpu_ms: float = 1.15
    heartbeat_cpu_ms: float = 0.54
    database_cpu_ms: float = 0.8
    log_bytes: float = 475


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """Not measured: only AWS can say."""

    round_trip_ms: float = 1.0
    publish_ms: float = 15.0
    platform_log_bytes: float = 700
    stored_bytes: float = 4_000
    processors_per_acu: float = 0.25
    traced_share: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A month: transitions, and for each of them who hears of it; `beating` consumers beat every `beat_seconds`; `monitor` 0 is a disabled one."""

    transitions: float = _MILLION
    sqs_consumers: float = 1
    https_consumers: float = 1
    acks_per_event: float = 2
    beating: float = 1
    beat_seconds: float = 30
    memory_mb: float = 512
    instances: float = 2
    min_acu: float = 0.5
    zones: float = 2
    monitor: float = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    name: str
    formula: str
    dollars: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    prices: Prices = Prices()
    measured: Measured = Measured()
    assumed: Assumed = Assumed()
    load: Load = Load()

    @property
    def acks(self) -> float:
        return self.load.transitions * self.load.acks_per_event * (self.load.sqs_consumers + self.load.https_consumers)

    @property
    def trigger_ms(self) -> float:
        return self._billed(self.measured.trigger_cpu_ms) + 2 * self.assumed.round_trip_ms + self.assumed.publish_ms

    @property
    def ack_ms(self) -> float:
        return self._billed(self.measured.ack_cpu_ms) + 2 * self.assumed.round_trip_ms

    @property
    def heartbeat_ms(self) -> float:
        return self._billed(self.measured.heartbeat_cpu_ms) + self.assumed.round_trip_ms

    def _billed(self, cpu_ms: float) -> float:
        """A function gets a part of a processor that grows with its memory."""
        return cpu_ms * max(1.0, _MB_PER_PROCESSOR / self.load.memory_mb)

    def _lambda(self, calls: float, milliseconds: float) -> float:
        return calls * milliseconds / 1000 * self.load.memory_mb / 1024 * self.prices.lambda_gb_second

    def with_use(self) -> list[Line]:
        """What grows with the transitions."""
        load, price, measured, assumed = self.load, self.prices, self.measured, self.assumed
        calls = load.transitions + self.acks
        compute = self._lambda(load.transitions, self.trigger_ms) + self._lambda(self.acks, self.ack_ms)
        acu_hours = calls * measured.database_cpu_ms / 1000 / 3600 / assumed.processors_per_acu
        log_gb = calls * (measured.log_bytes + assumed.platform_log_bytes) / _GB
        https, sqs = load.transitions * load.https_consumers, load.transitions * load.sqs_consumers
        return [
            Line(name="API Gateway", formula="(triggers + acks) * api_million", dollars=calls / _MILLION * price.api_million),
            Line(name="Lambda, requests", formula="(triggers + acks) * lambda_million", dollars=calls / _MILLION * price.lambda_million),
            Line(name="Lambda, time", formula="(triggers * trigger_ms + acks * ack_ms) * memory * lambda_gb_second", dollars=compute),
            Line(name="SNS, publishing", formula="one batch a trigger * sns_million", dollars=load.transitions / _MILLION * price.sns_million),
            Line(name="SNS, deliveries by HTTPS", formula="triggers * https_consumers * sns_https_million", dollars=https / _MILLION * price.sns_https_million),
            Line(name="SNS, deliveries to SQS and Lambda", formula="free", dollars=0.0),
            Line(name="SQS", formula="triggers * sqs_consumers * 3 (in, out, delete) * sqs_million", dollars=3 * sqs / _MILLION * price.sqs_million),
            Line(
                name="Aurora, capacity above the least", formula="calls * database_cpu_ms / processors_per_acu * acu_hour", dollars=acu_hours * price.acu_hour
            ),
            Line(name="Aurora, I/O", formula="one a COMMIT * io_million", dollars=calls / _MILLION * price.io_million),
            Line(
                name="Aurora, storage, for each month kept",
                formula="triggers * stored_bytes * storage_gb",
                dollars=load.transitions * assumed.stored_bytes / _GB * price.storage_gb,
            ),
            Line(name="CloudWatch, logs", formula="calls * (log_bytes + platform_log_bytes) * logs_gb", dollars=log_gb * price.logs_gb),
            Line(name="X-Ray", formula="calls * traced_share * traces_million", dollars=calls * assumed.traced_share / _MILLION * price.traces_million),
        ]

    def fixed(self) -> list[Line]:
        """What is paid for even when nothing happens."""
        load, price = self.load, self.prices
        beats = load.beating * _HOURS * 3600 / load.beat_seconds
        beat_cost = beats / _MILLION * (price.api_million + price.lambda_million + price.io_million) + self._lambda(beats, self.heartbeat_ms)
        passes = _MINUTES * 5
        return [
            Line(
                name="Aurora, least capacity", formula="min_acu * instances * 730 h * acu_hour", dollars=load.min_acu * load.instances * _HOURS * price.acu_hour
            ),
            Line(name="VPC endpoints", formula="2 * zones * 730 h * endpoint_hour", dollars=2 * load.zones * _HOURS * price.endpoint_hour),
            Line(name="Monitor, time", formula="43,800 runs * 50 s * memory * lambda_gb_second", dollars=load.monitor * self._lambda(_MINUTES, 50_000)),
            Line(name="Monitor, runs, schedule, I/O", formula="43,800 runs, 219,000 passes", dollars=load.monitor * self._monitor_rest(passes)),
            Line(name="Secrets", formula="2 * secret", dollars=2 * price.secret),
            Line(name="Alarms", formula="6 * alarm", dollars=6 * price.alarm),
            Line(name="Metrics", formula="18 * metric", dollars=18 * price.metric),
            Line(name="Key of the alarm topic", formula="key", dollars=price.key),
            Line(name="Beats", formula="beating * 730 h / beat_seconds * (API, Lambda, I/O)", dollars=beat_cost),
        ]

    def _monitor_rest(self, passes: float) -> float:
        return (_MINUTES * (self.prices.lambda_million + self.prices.scheduler_million) + passes * self.prices.io_million) / _MILLION


def table(lines: Iterable[Line], total: str) -> str:
    listed = list(lines)
    rows = [f"| {line.name} | `{line.formula}` | {line.dollars:,.2f} |" for line in listed]
    return "\n".join(["| what | formula | US$ |", "|---|---|---|", *rows, f"| **{total}** | | **{sum(round(line.dollars, 2) for line in listed):,.2f}** |"])


def values_table(part: object) -> str:
    """The fields of a part of the case, with their values."""
    rows = [f"| `{field.name}` | {getattr(part, field.name):.10g} |" for field in fields(part)]  # type: ignore[arg-type]
    return "\n".join(["| name | value |", "|---|---|", *rows])


def tables(case: Case) -> dict[str, str]:
    durations = f"| trigger | {case.trigger_ms:.1f} |\n| ack | {case.ack_ms:.1f} |\n| heartbeat | {case.heartbeat_ms:.1f} |"
    return {
        "prices": values_table(case.prices),
        "measured": values_table(case.measured),
        "assumed": values_table(case.assumed),
        "load": values_table(case.load),
        "durations": f"| call | ms |\n|---|---|\n{durations}",
        "with use": table(case.with_use(), "a million transitions" if case.load.transitions == _MILLION else "with use"),
        "fixed": table(case.fixed(), "a month, before any use"),
        "fixed, dev": table(changed(case, DEV).fixed(), "a month, before any use"),
    }


def changed(case: Case, values: Mapping[str, float]) -> Case:
    """The case with other values; a name that no part has is refused."""
    parts = {name: getattr(case, name) for name in ("prices", "measured", "assumed", "load")}
    for name, value in values.items():
        owner = next((key for key, part in parts.items() if hasattr(part, name)), None)
        if owner is None:
            raise ValueError(f"there is no value {name}")
        parts[owner] = replace(parts[owner], **{name: value})
    return replace(case, **parts)


# The parameter set `dev` of samconfig.toml: the database pauses, the monitor is off.
DEV = {"instances": 1, "min_acu": 0, "zones": 1, "beating": 0, "monitor": 0}


if __name__ == "__main__":
    GIVEN = {name: float(value) for name, _, value in (word.partition("=") for word in sys.argv[1:])}
    for title, text in tables(changed(Case(), GIVEN)).items():
        print(f"{title}\n\n{text}\n")
