# The product as it is installed: a wheel in an environment. No source lies in the image that could shadow it.
#   docker build -t alphaswarm .        on a machine without an NVIDIA driver: --build-arg TORCH_CPU_INDEX=<index of CPU wheels>
#   docker run --rm -v alphaswarm:/data alphaswarm status
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS wheel
WORKDIR /build
COPY requirements.lock ./
RUN pip install --no-cache-dir --constraint requirements.lock hatchling
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY alphaswarm_assets alphaswarm_assets
COPY resources resources
COPY kernels kernels
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

# Dependencies by name from pyproject.toml, by version from the lock: this layer is made again only when one of them changes.
FROM python:${PYTHON}-slim AS environment
ARG TORCH_CPU_INDEX=
WORKDIR /build
RUN python -m venv /opt/alphaswarm
ENV PATH=/opt/alphaswarm/bin:$PATH
COPY requirements.lock pyproject.toml ./
RUN pip install --no-cache-dir ${TORCH_CPU_INDEX:+--index-url "$TORCH_CPU_INDEX"} "$(grep '^torch==' requirements.lock)"
RUN python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
    print(*p["dependencies"], *(d for e in ("demo", "redis") for d in p["optional-dependencies"][e]), sep="\n")' > runtime.txt \
    && pip install --no-cache-dir --constraint requirements.lock --requirement runtime.txt
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir --no-deps /wheels/*.whl && pip check

FROM python:${PYTHON}-slim
COPY --from=environment /opt/alphaswarm /opt/alphaswarm
RUN useradd --create-home --uid 10001 alphaswarm && install -d -o alphaswarm /data
USER alphaswarm
WORKDIR /home/alphaswarm
COPY workspace.yaml ./
ENV PATH=/opt/alphaswarm/bin:$PATH \
    ALPHASWARM_HOME=/data \
    DAGSTER_HOME=/data/dagster
VOLUME /data
ENTRYPOINT ["alphaswarm"]
CMD ["--help"]
