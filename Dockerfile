# Tacet in a container, speaking UCI on standard input and output:
#   docker build -t tacet .
#   docker run --rm -i tacet
# Files of the host are mounted: docker run --rm -i -v "$PWD:/data:ro" tacet go depth 12 -o EvalFile=/data/my.net

FROM rust:1.95-alpine AS build
# git names the commit in `tacet --version`.
RUN apk add --no-cache git musl-dev
WORKDIR /tacet
COPY . .
RUN cargo build --release --locked --bin tacet

# The program is linked statically.
FROM scratch
COPY --from=build /tacet/target/release/tacet /tacet
COPY --from=build /tacet/LICENSE /LICENSE
USER 65534:65534
ENTRYPOINT ["/tacet"]
