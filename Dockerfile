# bbfalsify with its compiled simulation kernel, so that the first run in a container starts at once:
#   docker build -t bbfalsify .
#   docker run --rm -v "$PWD:/work" bbfalsify run experiments/heater/campaign.yaml
FROM python:3.12-slim

# A fixed place, readable for whatever user the container runs as.
ENV XDG_CACHE_HOME=/var/cache PIP_NO_CACHE_DIR=1

COPY pyproject.toml README.md LICENSE /src/
COPY bbfalsify /src/bbfalsify
RUN pip install '/src[fmi,tables]' && rm -rf /src

# A short run compiles everything that a falsification needs; the cache is part of the image.
RUN cd /tmp && bbfalsify run --example heater --out /tmp/runs -q && rm -rf /tmp/runs && chmod -R a+rwX /var/cache

WORKDIR /work
ENTRYPOINT ["bbfalsify"]
