# docker build -t xmine .                                    mining with the embedded encoder
# docker build -t xmine --build-arg EXTRAS='[torch,ray]' .   training, other encoders, clusters
# docker run --rm -v "$PWD:/data" xmine mine en.txt zh.txt -o run/
FROM python:3.11-slim AS build
WORKDIR /src
RUN pip install --no-cache-dir build
COPY . .
RUN python -m build --wheel --outdir /wheels

FROM python:3.11-slim
ARG EXTRAS=""
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
RUN pip install --no-cache-dir -c /wheels/constraints.txt "$(echo /wheels/*.whl)${EXTRAS}" \
    && rm -r /wheels \
    && useradd --create-home miner
USER miner
WORKDIR /data
ENTRYPOINT ["xmine"]
CMD ["--help"]
