# shardlab with real runs on NVIDIA GPUs:
#
#   docker build -t shardlab .
#   docker run --rm --gpus all --shm-size 1g -v "$PWD:/work" shardlab run my.yaml
#
# The first stage needs nvcc for kernels of our own and no GPU; the image that is kept holds /opt/shardlab with the programs and PyTorch's
# wheels, which bring CUDA's libraries. The driver is the node's. Any base with Debian's or Ubuntu's packages and Python 3.11 to 3.13 will do.
ARG BUILD_BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04
ARG RUN_BASE=ubuntu:24.04

FROM ${BUILD_BASE} AS build
COPY scripts /src/scripts
RUN /src/scripts/image.sh packages
RUN /src/scripts/image.sh torch
COPY . /src
RUN /src/scripts/image.sh install

FROM ${RUN_BASE}
COPY scripts /tmp/shardlab/scripts
RUN /tmp/shardlab/scripts/image.sh runtime && rm -r /tmp/shardlab
COPY --from=build /opt/shardlab /opt/shardlab
ENV PATH=/opt/shardlab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
ENTRYPOINT ["shardlab"]
CMD ["--help"]
