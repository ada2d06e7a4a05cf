// An authorization server: provider.mjs RESOURCE. It prints its issuer, and ends with its input.
// Anybody can log in as anybody, by the forms that the package has for development.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const resource = process.argv[2];
const scope = 'docs:read docs:write';
const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    { client_id: 'resource-server', client_secret: 'of-the-resource', redirect_uris: [], response_types: [], grant_types: [] },
    { client_id: 'machine', client_secret: 'of-the-machine', redirect_uris: [], response_types: [], grant_types: ['client_credentials'] },
  ],
  scopes: ['offline_access', ...scope.split(' ')],
  clientDefaults: { id_token_signed_response_alg: 'RS256' },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  ttl: { AccessToken: 3600, ClientCredentials: 600, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, asked) => {
        if (asked !== resource) throw new Error(`there is no resource ${asked}`);
        return { scope, audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: 3600 };
      },
    },
  },
});
provider.on('server_error', (_ctx, error) => console.error(error));
server.on('request', provider.callback());
console.log(issuer);
process.stdin.on('end', () => process.exit(0)).resume();
