"""What ZeRO trains with in a real run takes the memory that its plan says, to the byte after every instruction, and its losses are those
of one process."""
# processors: 2
import array

from _shardlab import SOURCE, Place, check, expect, main, needs_torch

needs_torch()
SCENARIO = f"""
name: zero
model: {{ config: tiny-llama, sequence_length: 16, overrides: {{ num_hidden_layers: 2 }} }}
cluster: {{ device: cpu, ranks: 2 }}
parallel: {{ strategy: zero3, zero: {{ reduce_bucket_size: 200000 }} }}
train: {{ data: {SOURCE}/assets/data/licenses.txt, accumulation: 2, order: sequential }}
measure: {{ warmup_steps: 2, steps: 2 }}
"""
LORA = "model.lora={rank: 2, alpha: 4, targets: [q_proj, down_proj]}"
TIED = "model.overrides.tie_word_embeddings=true"
HALF = ("precision.param=float16", "scaler.initial_scale=1024")


def losses_with_memory(*settings):
    """Of a run whose memory is compared with its prediction."""
    place = Place()
    sets = [part for setting in settings for part in ("--set", setting)]
    file = place.scenario(text=SCENARIO)
    losses = expect(place.run("run", file, "--json", *sets), 0).json()["losses"]
    expect(place.run("simulate", file, "--no-calibration", *sets), 0)
    memory = expect(place.run("diff", "r2", "r1", "--json"), 0).json()["memory_difference"]
    check(memory["equal"] == memory["borders"] > 0, f"{settings}: {memory}")
    return losses


def check_near(settings, limit):
    """Against the same two ranks under DDP, in float32."""
    plain = ("parallel={strategy: ddp}", *[setting for setting in settings if setting.startswith(("model", "train"))])
    pairs = list(zip(losses_with_memory(*settings), losses_with_memory(*plain)))
    worst = max(abs(a - b) / b for a, b in pairs)
    check(worst < limit, f"{settings}: {pairs}")


def test_tied_weights():
    check_near((TIED,), 1e-5)


def test_families_that_tie():
    place = Place()
    data = place.path / "tokens.bin"
    data.write_bytes(array.array("H", (i * i % 59 for i in range(2000))).tobytes())
    for family in ("gpt2", "gemma2"):
        check_near((f"model={{config: {SOURCE}/tests/data/families/{family}.json, sequence_length: 16}}",
                    f"train={{data: {data}, accumulation: 2}}"), 1e-5)


def test_adapters_with_checkpointed_layers():
    check_near((LORA, "activation.checkpoint=full"), 1e-5)


def test_adapters_in_host_memory():
    check_near((LORA, "offload={optimizer: cpu, parameters: cpu}"), 1e-5)


def test_float16_of_every_stage():
    for stage in range(4):
        zero = ", zero: {reduce_bucket_size: 200000}" if stage else ""
        check_near((f"parallel={{strategy: zero{stage}{zero}}}", *HALF), 3e-3)


def test_float16_with_the_optimizer_in_host_memory():
    check_near(("parallel.strategy=zero2", "offload.optimizer=cpu", *HALF), 3e-3)


def test_round_robin_and_another_dtype_of_communication():
    zero = "zero: {reduce_bucket_size: 200000, round_robin_gradients: true, communication_data_type: fp32, overlap_comm: true}"
    check_near(("parallel={strategy: zero2, %s}" % zero, "precision.param=bfloat16"), 3e-3)


def test_a_step_that_overflows_is_skipped_and_the_smallest_scale_ends_the_run():
    place = Place()
    file = place.scenario(text=SCENARIO)
    def run(*settings):
        return place.run("run", file, "--json", "--set", "precision.param=float16", *[part for setting in settings for part in ("--set", setting)])
    losses = expect(run("scaler={initial_scale: 1e12, hysteresis: 1}", "train.order=sequential"), 0).json()["losses"]
    check(len(losses) == 4, f"{losses}")
    failed = run("scaler={initial_scale: 1e12, hysteresis: 1, minimum: 1e12}")
    check(failed.code != 0 and "scaler.minimum" in failed.err, f"{failed}")


main(globals())
