FROM node:22-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/server/package.json packages/server/

FROM packages AS build
RUN npm ci
COPY openapi.json ./
COPY scripts scripts
COPY packages/protocol packages/protocol
COPY packages/server packages/server
RUN node scripts/build.mjs --server

# The packages that the built server imports. Our own packages are bundled into the build. The SQLite addon is already
# compiled, so its sources and the binaries for other platforms are deleted.
FROM packages AS runtime
RUN npm ci --omit=dev && rm -r node_modules/@plenum node_modules/@photostructure/sqlite/src && \
  find node_modules/@photostructure/sqlite/prebuilds -mindepth 1 -maxdepth 1 ! -name 'linux-*' -exec rm -r {} +

FROM node:22-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
WORKDIR /app
COPY --from=runtime /app/node_modules node_modules
COPY --from=runtime /app/packages/server packages/server
COPY --from=build /app/packages/server/dist packages/server/dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.PORT+'/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "packages/server/dist/main.js"]
