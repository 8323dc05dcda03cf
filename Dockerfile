# The one image of all memlane processes: `docker build -t memlane .`, then `docker run … memlane web` or `worker`.

FROM python:3.11-slim AS build
WORKDIR /source
RUN python -m venv /opt/memlane
COPY pyproject.toml constraints.txt README.md ./
COPY acp_bridge ./acp_bridge
COPY channels ./channels
COPY agent ./agent
COPY core ./core
COPY events ./events
COPY jobs ./jobs
COPY memlane ./memlane
COPY memory ./memory
COPY web ./web
RUN /opt/memlane/bin/pip install --no-cache-dir --constraint constraints.txt .

FROM python:3.11-slim
# a new volume takes over the owner of the folder that it is mounted on
RUN groupadd --gid 10001 memlane \
    && useradd --uid 10001 --gid memlane --no-create-home --home-dir /var/lib/memlane --shell /usr/sbin/nologin memlane \
    && install --directory --mode=0700 --owner=memlane --group=memlane /var/lib/memlane /memory /run/memlane \
    && install --directory --owner=memlane --group=memlane /workspaces /workspaces/main
COPY --from=build /opt/memlane /opt/memlane
ENV PATH=/opt/memlane/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /var/lib/memlane
STOPSIGNAL SIGTERM
ENTRYPOINT ["memlane"]
