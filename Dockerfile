# syntax=docker/dockerfile:1
# The gateway for production: dependencies from the lock file by hash, without the sandbox; no pip, no compiler, no shell
# history of the build, and a user without rights. Settings come from GATEWAY_* variables or `--config FILE`.
# With the client of NATS, for `stream = "bus"` and `gateway stream`: `docker build --build-arg LOCK=requirements-nats.lock .`
# With that and the DAX client, for `cache = "dax"`: `docker build --build-arg LOCK=requirements-dax.lock .`
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv --without-pip /venv
ARG LOCK=requirements.lock
COPY requirements.lock requirements-nats.lock requirements-dax.lock /build/
# Amazon publishes the DAX client as source only
RUN python -m pip --python /venv/bin/python install --require-hashes --only-binary :all: --no-binary amazon-dax-client \
    -r "/build/$LOCK"
COPY gateway /app/gateway
RUN /venv/bin/python -m compileall -q /app/gateway

FROM python:${PYTHON}-slim
# a version of the image is a version of the code: its packages are not updated in place
RUN python -m pip uninstall --yes --quiet pip \
 && groupadd --gid 10001 gateway \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin gateway
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY policies /app/policies
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    GATEWAY_HOST=0.0.0.0 GATEWAY_PORT=8000
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
ENTRYPOINT ["python", "-m", "gateway"]
CMD ["serve"]
