"""Writes cuda_rank0.json and cuda_rank1.json: two steps of two ranks as Kineto writes them on GPUs, small enough to reckon with
by hand. The fields are those of PyTorch 2.x; the times are made up."""

import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
PROCESS, MAIN, AUTOGRAD, COMPUTE, COMMUNICATION = 4000, 4000, 4001, 7, 20


def complete(category, name, process, thread, start, duration, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": duration,
            "args": arguments}


def launched(correlation, thread, at, category, name, device, stream, start, duration, **arguments):
    return [complete("cuda_runtime", "cudaLaunchKernel", PROCESS, thread, at, 4.0, correlation=correlation),
            complete(category, name, device, stream, start, duration, device=device, stream=stream, correlation=correlation,
                     **arguments)]


def step(number, begin, rank):
    late = 15.0 * rank  # the gather of rank 1 ends later
    sgemm = 100.0 if number == 10 else 120.0
    first = number * 100
    nccl = {"dtype": "BFloat16", "Group size": 2}
    return [
        complete("user_annotation", f"ProfilerStep#{number}", PROCESS, MAIN, begin, 500.0),
        *launched(first + 6, MAIN, begin + 2, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", rank, COMPUTE, begin + 4, 6.0),
        *launched(first + 2, MAIN, begin + 5, "kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                  rank, COMMUNICATION, begin + 20, 70.0 + late, **{"Collective name": "_allgather_base",
                                                                   "In msg nelems": 512, "Out msg nelems": 1024}, **nccl),
        complete("cpu_op", "aten::addmm", PROCESS, MAIN, begin + 10, 20.0),
        *launched(first + 1, MAIN, begin + 20, "kernel", "void cutlass::Kernel2<cutlass_80_tensorop_bf16>(Params)", rank,
                  COMPUTE, begin + 100 + late, sgemm - late),
        complete("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", PROCESS, AUTOGRAD, begin + 225, 50.0),
        complete("cpu_op", "aten::mm", PROCESS, AUTOGRAD, begin + 228, 20.0),
        *launched(first + 3, AUTOGRAD, begin + 230, "kernel", "void cutlass::Kernel2<cutlass_80_tensorop_bf16>(Params)", rank,
                  COMPUTE, begin + 235, 90.0),
        *launched(first + 4, AUTOGRAD, begin + 250, "kernel", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(args)", rank,
                  COMMUNICATION, begin + 330, 60.0, **{"Collective name": "_reduce_scatter_base", "In msg nelems": 1024,
                                                       "Out msg nelems": 512}, **nccl),
        complete("user_annotation", "Optimizer.step#AdamW.step", PROCESS, MAIN, begin + 300, 80.0),
        *launched(first + 5, MAIN, begin + 310, "kernel", "void multi_tensor_apply_kernel<...>(...)", rank, COMPUTE,
                  begin + 395, 30.0),
        complete("cuda_runtime", "cudaDeviceSynchronize", PROCESS, MAIN, begin + 400, 26.0, correlation=first + 7),
        # Not of use: python frames, the annotation's shadow on the device, flows.
        complete("python_function", "train.py(12): step", PROCESS, MAIN, begin, 499.0),
        complete("gpu_user_annotation", f"ProfilerStep#{number}", rank, COMPUTE, begin + 4, 400.0),
        {"ph": "s", "id": first, "pid": PROCESS, "tid": MAIN, "ts": begin, "cat": "ac2g", "name": "ac2g"},
        *[{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": PROCESS, "tid": MAIN, "ts": begin + at,
           "args": {"Total Allocated": total, "Total Reserved": 2097152, "Bytes": 512, "Device Id": rank, "Device Type": kind,
                    "Addr": 1}}
          for at, total, kind in ((3, 1000, 1), (6, 777777, 0), (30, 5000, 1), (240, 8000, 1), (260, 4000, 1))],
    ]


for rank in (0, 1):
    trace = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": rank, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017493504}],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
        "baseTimeNanoseconds": 1763000000000000000,
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "ts": 0, "args": {"name": "python"}},
            *step(10, 1000.0, rank), *step(11, 2000.125, rank),
            {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 900.0,
             "dur": 2000.0, "args": {"Op count": 0}},
        ],
        "traceName": f"rank{rank}.json",
    }
    with open(os.path.join(HERE, f"cuda_rank{rank}.json"), "w", encoding="utf-8") as file:
        events = ",\n".join(json.dumps(event) for event in trace.pop("traceEvents"))
        head = json.dumps(trace)[:-1]
        file.write(f'{head}, "traceEvents": [\n{events}\n]}}\n')
