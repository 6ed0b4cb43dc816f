FROM python:3.12.12-slim-bookworm AS build

# The CPU build of torch is enough and several gigabytes smaller: give the address of PyTorch's
# CPU wheel index with --build-arg TORCH_INDEX=…; empty takes pip's default build.
ARG TORCH_INDEX=""

WORKDIR /src
COPY . .
RUN python -m venv /app && PIP_EXTRA_INDEX_URL="$TORCH_INDEX" /app/bin/pip install --no-cache-dir \
    ".[dashboard,search,signin]" --constraint constraints.txt && /app/bin/pip uninstall --yes pip

FROM python:3.12.12-slim-bookworm

COPY --from=build /app /app
# Nobody in particular, without a shell. Downloads, fits and compiled code are kept in /cache: mount a
# volume to keep them longer than the container, or to share them between replicas.
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin reader \
    && install -d -o reader -g reader /cache
ENV PATH=/app/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/cache \
    NUMBA_CACHE_DIR=/cache/numba \
    UNCLETC_HOST=0.0.0.0 \
    UNCLETC_LOG_LEVEL=info
VOLUME /cache

USER reader
WORKDIR /home/reader
EXPOSE 8501
# Ready when a tiny tensor was fitted, which the first time has to be compiled.
HEALTHCHECK --interval=15s --timeout=10s --start-period=180s --retries=4 CMD ["python", "-c", \
    "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/ready', timeout=8)"]
CMD ["uncletc", "dashboard", "--port", "8501"]
