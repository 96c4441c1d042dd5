"""RLRuntime: the sanctioned executor. Every verb takes artifacts by digest and gives back one of what it made."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from alphaswarm_assets.errors import AlphaSwarmError, RefusedError, StoreError
from alphaswarm_assets.ports import Columns, TablePin
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.runtime.workbench import RunContext, Target, Workbench, record_run
from alphaswarm_assets.specs.research import ResearchSpec

# Verbs import what they run inside themselves: whoever loads the graph or asks for help pays for none of it.


@dataclass(frozen=True, kw_only=True, slots=True)
class RLRuntime:
    """Trains, evaluates, judges, registers and rehearses; records every run it finishes."""

    bench: Workbench
    source_version: str
    """Commit (with a dirty flag) or package version of the code that runs."""
    code_version: Callable[[str], str]
    """Code version of an asset, as this process began with it."""
    code_version_now: Callable[[str], str]
    """Code version of an asset, read from its sources again."""

    def context(self, run_id: str, asset: str) -> RunContext:
        """Return the context of the run *run_id*, which makes *asset*."""
        return RunContext(
            run_id=run_id,
            asset=asset,
            code_version=self.code_version(asset),
            source_version=self.source_version,
            code_version_now=self.code_version_now,
        )

    def collect(
        self,
        spec: ResearchSpec,
        gold: Columns,
        *,
        inputs: Mapping[str, str],
        pins: Sequence[TablePin],
        run: RunContext,
    ) -> str:
        """Make the dataset of *spec* from rows of the gold table."""
        from alphaswarm_assets.runtime.collecting import collect_dataset

        return collect_dataset(self.bench, spec, gold, inputs=inputs, pins=pins, run=run)

    def train(
        self, spec: ResearchSpec, fold: str, seed: int, *, dataset: str, run: RunContext
    ) -> str:
        """Train the policy of one seed of one fold, or return the one remembered."""
        from alphaswarm_assets.runtime.training import SeedRun, train_seed

        task = SeedRun(spec=spec, fold=fold, seed=seed, dataset=dataset)
        with self._noting_failure(run, spec, "train", fold):
            return train_seed(self.bench, task, run)

    def gather(
        self,
        spec: ResearchSpec,
        fold: str,
        *,
        dataset: str,
        policies: Mapping[int, str],
        run: RunContext,
    ) -> str:
        """Join the policies of all seeds into the fold's checkpoint; runs the post-train battery when configured."""
        from alphaswarm_assets.runtime.training import gather, log_curves

        digest = gather(self.bench, spec, fold, dataset=dataset, policies=policies, run=run)
        try:
            log_curves(self.bench, spec, fold, digest)
            curves = "logged"
        except StoreError as error:  # a tracker that is away takes no policy with it; the curves stand in the policies
            curves = str(error)
        summary: JsonObject = {"checkpoint": digest, "curves": curves}
        if spec.training.post_train_battery:
            summary |= self.battery(spec, fold, dataset=dataset, checkpoint=digest)
        record_run(
            self.bench,
            run,
            spec,
            target="train",
            status="completed",
            result_summary=summary,
            fold=fold,
        )
        return digest

    def battery(
        self, spec: ResearchSpec, fold: str, *, dataset: str, checkpoint: str
    ) -> JsonObject:
        """Return the result summary of an evaluation that is stored nowhere else: the post-train battery."""
        from alphaswarm_assets.runtime.evaluating import measure

        _, facts = measure(
            self.bench, spec, fold, dataset=dataset, checkpoint=self.bench.artifacts.get(checkpoint)
        )
        return _evaluation_summary(facts)

    def evaluate(
        self, spec: ResearchSpec, fold: str, *, dataset: str, checkpoint: str, run: RunContext
    ) -> str:
        """Measure a checkpoint on the block its fold has not seen."""
        from alphaswarm_assets.runtime.evaluating import evaluate

        with self._noting_failure(run, spec, "evaluate", fold):
            digest = evaluate(
                self.bench, spec, fold, dataset=dataset, checkpoint=checkpoint, run=run
            )
        facts = self.bench.artifacts.manifest(digest).facts
        record_run(
            self.bench,
            run,
            spec,
            target="evaluate",
            status="completed",
            result_summary=_evaluation_summary(facts),
            fold=fold,
        )
        return digest

    def replay(self, spec: ResearchSpec, report: str) -> bool:
        """Evaluate again what *report* measured and return whether every byte of it comes out the same."""
        from alphaswarm_assets.records.canonical import digest_bytes
        from alphaswarm_assets.runtime.evaluating import measure

        held = self.bench.artifacts.get(report).content
        checkpoint = self.bench.artifacts.get(held.inputs["trained_checkpoint"])
        payload, facts = measure(
            self.bench,
            spec,
            str(held.facts["fold"]),
            dataset=held.inputs["research_dataset"],
            checkpoint=checkpoint,
        )
        files = {name: digest_bytes(data) for name, data in payload.items()}
        return facts == held.facts and files == held.files

    def summarise(
        self, spec: ResearchSpec, reports: Mapping[str, str | None], *, run: RunContext
    ) -> str:
        """Join the reports of all folds into evidence."""
        from alphaswarm_assets.runtime.summarising import summarise

        with self._noting_failure(run, spec, "summarise"):
            return summarise(self.bench, spec, reports, run=run)

    def judge(
        self, spec: ResearchSpec, *, summary: str | None, stale: Sequence[str], run: RunContext
    ) -> str:
        """Judge the evidence in *summary*; a REJECT is a result, never an error."""
        from alphaswarm_assets.runtime.judging import judge_study

        with self._noting_failure(run, spec, "judge"):
            return judge_study(self.bench, spec, summary=summary, stale=stale, run=run)

    def register(
        self, spec: ResearchSpec, *, verdict: str, checkpoint: str, run: RunContext
    ) -> str:
        """Register the promoted policy; refuses unless the verdict allows it."""
        from alphaswarm_assets.runtime.registering import register

        with self._noting_failure(run, spec, "register"):
            return register(self.bench, spec, verdict=verdict, checkpoint=checkpoint, run=run)

    def paper(
        self, spec: ResearchSpec, *, verdict: str, checkpoint: str, dataset: str, run: RunContext
    ) -> str:
        """Rehearse the promoted policy on the paper window; refuses unless the verdict allows it."""
        from alphaswarm_assets.runtime.rehearsing import rehearse

        with self._noting_failure(run, spec, "paper"):
            return rehearse(
                self.bench, spec, verdict=verdict, checkpoint=checkpoint, dataset=dataset, run=run
            )

    def walk_forward(self, spec: ResearchSpec, *, dataset: str, run: RunContext) -> str:
        """Train and evaluate every fold on *dataset* and return the evidence: the study without a graph around it."""
        reports: dict[str, str | None] = {}
        for fold in spec.folds:
            policies = {
                seed: self.train(spec, fold, seed, dataset=dataset, run=run) for seed in spec.seeds
            }
            checkpoint = self.gather(spec, fold, dataset=dataset, policies=policies, run=run)
            reports[fold] = self.evaluate(
                spec, fold, dataset=dataset, checkpoint=checkpoint, run=run
            )
        return self.summarise(spec, reports, run=run)

    @contextmanager
    def _noting_failure(
        self, run: RunContext, spec: ResearchSpec, target: Target, fold: str | None = None
    ) -> Generator[None]:
        try:
            yield
        except RefusedError:
            raise  # a session that was halted has its row already, and a refusal ran nothing
        except BaseException as stopped:
            expected = isinstance(stopped, Exception)
            words = str(stopped) if isinstance(stopped, AlphaSwarmError) else repr(stopped)
            try:
                record_run(
                    self.bench,
                    run,
                    spec,
                    target=target,
                    status="error" if expected else "cancelled",
                    result_summary={"error": words},
                    fold=fold,
                )
            except AlphaSwarmError as failed:
                stopped.add_note(f"nor could the run be recorded: {failed}")
            raise


def _evaluation_summary(facts: JsonObject) -> JsonObject:
    return {
        "evaluation_report": {
            name: facts[name]
            for name in ("fold", "seeds", "ensemble", "aggregate")
            if name in facts
        },
        "reward_attribution": facts.get("reward_attribution"),
    }
