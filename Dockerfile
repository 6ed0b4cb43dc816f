FROM python:3.12-slim

# The CPU build of torch is enough and several gigabytes smaller: give the address of PyTorch's
# CPU wheel index with --build-arg TORCH_INDEX=…; empty takes pip's default build.
ARG TORCH_INDEX=""

WORKDIR /src
COPY . .
RUN PIP_EXTRA_INDEX_URL="$TORCH_INDEX" pip install --no-cache-dir \
    ".[dashboard]" --constraint constraints.txt && rm -rf /src

# Downloads and fits are kept here; mount a volume to keep them longer than the container.
RUN useradd --create-home reader && install -d -o reader /cache
ENV XDG_CACHE_HOME=/cache
VOLUME /cache

USER reader
WORKDIR /home/reader
EXPOSE 8501
CMD ["uncletc", "dashboard", "--host", "0.0.0.0", "--port", "8501"]
