# The web page and HTTP API of Tertium in a container.
#
#   python -m build --wheel
#   docker build -t tertium .
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#       -p 127.0.0.1:8310:8310 -e TERTIUM_TOKEN=$(openssl rand -hex 16) tertium
#
# The root file system may be read-only: results are not cached on disk, and uploaded files are read
# from /tmp. For another model, mount its folder and add options: docker run ... tertium
# --model /models/NAME
ARG PYTHON=3.12-slim

FROM python:${PYTHON} AS build
COPY dist/*.whl /tmp/
RUN python -m venv /opt/tertium \
    && /opt/tertium/bin/pip install --no-cache-dir "$(ls /tmp/tertium-*.whl)[web,wmd]" \
    && /opt/tertium/bin/python -m compileall -q /opt/tertium/lib \
    && /opt/tertium/bin/pip uninstall --yes --quiet pip

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="Tertium" \
      org.opencontainers.image.description="How similar in meaning are two texts?" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/tertium /opt/tertium
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin tertium
ENV PATH=/opt/tertium/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TERTIUM_CACHE=/tmp/tertium
USER 10001
EXPOSE 8310
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8310/healthz', timeout=4)"]
ENTRYPOINT ["tertium", "serve", "--host", "0.0.0.0", "--port", "8310", "--no-cache"]
