# Builds the Debian package and installs it on a bare Debian 12.
#
#     docker build -t lockbench .
#     docker run --rm lockbench compare -d postgresql://user:password@host:5432/database
#     docker run --rm -v "$PWD:/work" lockbench verify -s ./my-lock.sql -d sqlite:
#
# What -o writes lies in /work. A database that runs on the host is reached with --network host.
FROM debian:12 AS build
COPY scripts/lib.sh /src/scripts/lib.sh
RUN apt-get update -q && bash -c '. /src/scripts/lib.sh && \
    apt-get install -qy --no-install-recommends "${LB_PKG_BUILD[@]}"'
COPY . /src
WORKDIR /src
RUN cmake --preset release && cmake --build --preset release && \
    cpack --config build/release/CPackConfig.cmake -B /deb

FROM debian:12-slim
COPY --from=build /deb /deb
RUN apt-get update -q && apt-get install -qy --no-install-recommends /deb/*.deb && \
    rm -rf /deb /var/lib/apt/lists/* && mkdir -m 1777 /work
WORKDIR /work
USER nobody
ENTRYPOINT ["lockbench"]
