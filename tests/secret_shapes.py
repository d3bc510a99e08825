"""Made-up secrets in the shapes that real tools use. They are built from parts, so that no scanner finds one here."""

import base64
import hashlib
import string
from typing import NamedTuple

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits


class Shape(NamedTuple):
    """A text, and the parts of it that must not survive."""

    name: str
    text: str
    secrets: tuple[str, ...]


def made(seed: str, length: int, alphabet: str = ALNUM) -> str:
    """A random-looking text that is the same in each run. It holds a digit and a letter."""
    digest = b"".join(hashlib.sha512(f"{seed}{n}".encode()).digest() for n in range(length // 64 + 1))
    text = "".join(alphabet[byte % len(alphabet)] for byte in digest[: length - 2])
    letters = [char for char in alphabet if char.isalpha()]
    return text + letters[digest[0] % len(letters)] + "7"


def base64_of(seed: str, size: int) -> str:
    return base64.b64encode(hashlib.sha512(seed.encode()).digest()[:size]).decode()


def prefixed(name: str, *parts: str, around: str = "value {} was used") -> Shape:
    secret = "".join(parts)
    return Shape(name, around.format(secret), (secret,))


def within(name: str, around: str, *secrets: str) -> Shape:
    return Shape(name, around.format(*secrets), secrets)


def block(name: str, label: str, body: str) -> Shape:
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return Shape(
        name, f"before\n-----BEGIN {label}-----\n{lines}\n-----END {label}-----\nafter", (body[:64], body[64:128])
    )


BODY = made("pem body", 192)
UUID = "-".join(made("uuid", 32, HEX)[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
JWT = ".".join(("ey" + "J" + made("head", 18), "ey" + "J" + made("claims", 40), made("signature", 43)))

BY_FORM = (
    prefixed("Hugging Face", "hf" + "_", made("hf", 34)),
    prefixed("Hugging Face organisation", "api" + "_org_", made("hforg", 34)),
    prefixed("GitHub personal", "gh" + "p_", made("ghp", 36)),
    prefixed("GitHub OAuth", "gh" + "o_", made("gho", 36)),
    prefixed("GitHub app", "gh" + "s_", made("ghs", 36)),
    prefixed("GitHub refresh", "gh" + "r_", made("ghr", 36)),
    prefixed("GitHub fine-grained", "github" + "_pat_", made("ghf", 22), "_", made("ghf2", 59)),
    prefixed("GitLab personal", "gl" + "pat-", made("glp", 20)),
    prefixed("GitLab pipeline trigger", "gl" + "ptt-", made("glt", 40, HEX)),
    prefixed("GitLab runner", "gl" + "rt-", made("glr", 20)),
    prefixed("GitLab deploy", "gl" + "dt-", made("gld", 20)),
    prefixed("Weights & Biases, version 1", "wandb" + "_v1_", made("wb", 40)),
    prefixed("OpenAI", "s" + "k-", made("oa", 48)),
    prefixed("OpenAI project", "s" + "k-proj-", made("oap", 60)),
    prefixed("OpenAI service account", "s" + "k-svcacct-", made("oas", 60)),
    prefixed("Anthropic", "s" + "k-ant-api03-", made("an", 80)),
    prefixed("OpenRouter", "s" + "k-or-v1-", made("or", 64, HEX)),
    prefixed("AWS access key", "AK" + "IA", made("aws", 16, UPPER)),
    prefixed("AWS temporary access key", "AS" + "IA", made("awst", 16, UPPER)),
    prefixed("Google API", "AI" + "za", made("goog", 35)),
    prefixed("Google OAuth access", "ya" + "29.", made("ya", 60)),
    prefixed("Google OAuth client secret", "GOC" + "SPX-", made("goc", 28)),
    prefixed("Slack bot", "xo" + "xb-", "123456789012-", made("xoxb", 24)),
    prefixed("Slack user", "xo" + "xp-", "123456789012-", made("xoxp", 32)),
    prefixed("Slack app", "xa" + "pp-1-A012-", made("xapp", 48)),
    prefixed("Discord bot", "M" + "T", made("dis", 24), ".", made("dis2", 6), ".", made("dis3", 38)),
    prefixed("Telegram bot", "1234567890:", "A" + "A", made("tg", 33)),
    prefixed("Stripe secret", "s" + "k_live_", made("st", 24)),
    prefixed("Stripe restricted", "r" + "k_live_", made("str", 24)),
    prefixed("Stripe webhook", "wh" + "sec_", made("whsec", 32)),
    prefixed("SendGrid", "S" + "G.", made("sg", 22), ".", made("sg2", 43)),
    prefixed("Mailgun", "ke" + "y-", made("mg", 32, HEX)),
    prefixed("npm", "np" + "m_", made("npm", 36)),
    prefixed("PyPI", "py" + "pi-AgEIcHlwaS5vcmc", made("pypi", 80)),
    prefixed("RubyGems", "ruby" + "gems_", made("gems", 48, HEX)),
    prefixed("Docker Hub", "dc" + "kr_pat_", made("dckr", 27)),
    prefixed("DigitalOcean", "do" + "p_v1_", made("dop", 64, HEX)),
    prefixed("Databricks", "da" + "pi", made("dapi", 32, HEX)),
    prefixed("Azure AD client secret", made("aad", 3), "8" + "Q~", made("aad2", 34)),
    prefixed("Vault service", "hv" + "s.", made("hvs", 90)),
    prefixed("Terraform Cloud", made("tf", 14), ".atlas" + "v1.", made("tf2", 64)),
    prefixed("Grafana service account", "gl" + "sa_", made("glsa", 32), "_", made("glsa2", 8, HEX)),
    prefixed("New Relic", "NR" + "AK-", made("nr", 27, UPPER)),
    prefixed("Sentry user", "sn" + "tryu_", made("sntry", 64, HEX)),
    prefixed("Linear", "li" + "n_api_", made("lin", 40)),
    prefixed("Notion", "nt" + "n_", made("ntn", 46)),
    prefixed("Figma", "fi" + "gd_", made("figd", 40)),
    prefixed("Airtable", "pa" + "t", made("air", 14), ".", made("air2", 64, HEX)),
    prefixed("Shopify", "sh" + "pat_", made("shp", 32, HEX)),
    prefixed("Groq", "gs" + "k_", made("gsk", 52)),
    prefixed("Replicate", "r" + "8_", made("r8", 37)),
    prefixed("Perplexity", "pp" + "lx-", made("pplx", 48)),
    prefixed("xAI", "xa" + "i-", made("xai", 80)),
    prefixed("NVIDIA NGC", "nva" + "pi-", made("nv", 64)),
    prefixed("Fireworks", "f" + "w_", made("fw", 24)),
    prefixed("RunPod", "rp" + "a_", made("rpa", 40, UPPER)),
    prefixed("Supabase", "sb" + "p_", made("sbp", 40, HEX)),
    prefixed("Tailscale", "ts" + "key-auth-", made("ts", 17), "-", made("ts2", 32)),
    prefixed("Atlassian", "ATA" + "TT3xFfGF0", made("att", 60)),
    prefixed("Prefect", "pn" + "u_", made("pnu", 36)),
    prefixed("Doppler", "d" + "p.pt.", made("dp", 43)),
    prefixed("age", "AGE-SECRET-" + "KEY-1", made("age", 58, UPPER)),
    prefixed("JWT", JWT),
    prefixed("JWT after a comma", JWT, around="a,{},b"),
)

BLOCKS = (
    block("RSA key", "RSA PRIVATE" + " KEY", BODY),
    block("OpenSSH key", "OPENSSH PRIVATE" + " KEY", BODY),
    block("PKCS 8 key", "PRIVATE" + " KEY", BODY),
    block("encrypted key", "ENCRYPTED PRIVATE" + " KEY", BODY),
    block("PGP key", "PGP PRIVATE" + " KEY BLOCK", BODY),
    block("SSH.COM key", "SSH2 ENCRYPTED PRIVATE" + " KEY", BODY),
    Shape(
        "key cut before its end", f"-----BEGIN PRIVATE{' '}KEY-----\n{BODY[:64]}\n{BODY[64:]}", (BODY[:64], BODY[64:])
    ),
    within(
        "key in JSON",
        '{{"private_key": "-----BEGIN PRIVATE' + ' KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"}}',
        BODY[:64],
    ),
    within(
        "PuTTY key",
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate" + "-Lines: 2\n{}\n{}\nPrivate-MAC: 00",
        BODY[:64],
        BODY[64:128],
    ),
    within(
        "key with Windows line ends",
        "-----BEGIN PRIVATE" + " KEY-----\r\n{}\r\n-----END PRIVATE KEY-----\r\n",
        BODY[:64],
    ),
)

PASSWORD, KEY, HEXKEY = "hunter" + "2-Xyz", made("key", 32), made("hexkey", 40, HEX)

OPTIONS = (
    within("--api-key X", "serve --api-key {} --port 8000", KEY),
    within("--api-key=X", "serve --api-key={} --port 8000", KEY),
    within("--api-key 'X'", "serve --api-key '{}' --port 8000", KEY),
    within("--api_key with NUL", "serve\0--api_key\0{}\0--port\0", KEY),
    within("--hf-token", "run --hf-token {}", KEY),
    within("--token", "huggingface-cli login --token {}", KEY),
    within("--password", "login --username u --password {}", PASSWORD),
    within("--password with spaces", 'login --password "{}"', "my long " + "pass phrase"),
    within("--passphrase", "gpg --passphrase {} -d x", PASSWORD),
    within("--client-secret", "az login --client-secret {}", KEY),
    within("--secret-access-key", "x --secret-access-key {}", KEY),
    within("sshpass -p", "sshpass -p {} ssh host", PASSWORD),
    within("sshpass -pX", "sshpass -p{} ssh host", PASSWORD),
    within("mysql -pX", "mysql -u root -p{} db", PASSWORD),
    within("docker login -p", "docker login -u u -p {} registry", PASSWORD),
    within("podman login --creds", "podman pull --creds user:{} image", PASSWORD),
    within("skopeo --src-creds", "skopeo copy --src-creds=user:{} a b", PASSWORD),
    within("curl -u", "curl -u user:{} https://host", PASSWORD),
    within("curl --user", "curl --user user:{} https://host", PASSWORD),
    within("curl --proxy-user", "curl --proxy-user user:{} https://host", PASSWORD),
    within("wandb login", "wandb login {}", HEXKEY),
    within("wandb login --relogin", "wandb login --relogin {}", HEXKEY),
    within("redis-cli -a", "redis-cli -a {} ping", PASSWORD),
    within("openssl -passin", "openssl rsa -passin pass:{} -in k", PASSWORD),
    within("kubectl --from-literal", "kubectl create secret generic x --from-literal=password={}", PASSWORD),
    within("vllm after a key of Hydra", "python -m x +trainer.api_key={}", KEY),
    within("printed argv", "['serve', '--api-key', '{}', '--port']", KEY),
    within("printed argv, double quotes", '["--auth-token", "{}"]', KEY),
)

HEADERS = (
    within("Authorization: Bearer", "Authorization: Bearer {}", KEY),
    within("Authorization: Basic", "Authorization: Basic {}", base64_of("basic", 18)),
    within("Authorization: token", "Authorization: token {}", KEY),
    within("Authorization without a scheme", "Authorization: {}", KEY),
    within("Proxy-Authorization", "Proxy-Authorization: Basic {}", base64_of("proxy", 18)),
    within("Authorization in a dict", "{{'Authorization': 'Bearer {}'}}", KEY),
    within("authorization in tuples", "Headers([('host', 'h'), ('authorization', 'Bearer {}')])", KEY),
    within(
        "AWS signature 4", "Authorization: AWS4-HMAC-SHA256 Credential=X/1/s3, SignedHeaders=host, Signature={}", HEXKEY
    ),
    within("Digest", 'Authorization: Digest username="u", realm="r", response="{}"', HEXKEY[:32]),
    within("X-API-Key", "X-API-Key: {}", KEY),
    within("X-Session-API-Key", "x-session-api-key: {}", KEY),
    within("X-Auth-Token", "X-Auth-Token: {}", KEY),
    within("PRIVATE-TOKEN", "PRIVATE-TOKEN: {}", KEY),
    within("X-Vault-Token", "X-Vault-Token: {}", KEY),
    within("api-key of Azure", "api-key: {}", KEY),
    within("Ocp-Apim-Subscription-Key", "Ocp-Apim-Subscription-Key: {}", HEXKEY[:32]),
    within("Cookie", "Cookie: theme=dark; session={}", KEY),
    within("Cookie with two secrets", "Cookie: sid={}; csrf={}", KEY, HEXKEY),
    within("Set-Cookie", "Set-Cookie: id={}; Path=/; HttpOnly", KEY),
    within("Cookie in curl", "curl -b 'session={}' https://host", KEY),
    within("header in curl", "curl -H 'X-Api-Key: {}' https://host", KEY),
    within("bearer in prose", "sent with bearer {}", KEY),
)

URLS = (
    within("user and password", "https://user:{}@host/x", PASSWORD),
    within("password alone", "redis://:{}@host:6379/0", PASSWORD),
    within("password with @", "postgresql://u:{}@host/db", "p" + "@ss-w0rd"),
    within("password with /", "amqp://u:{}@host", "p" + "/ss-w0rd"),
    within("mongodb+srv", "mongodb+srv://u:{}@host", PASSWORD),
    within("token alone", "https://{}@github.com/x/y", KEY),
    within("oauth2", "https://oauth2:{}@gitlab.com/x", KEY),
    within("?token=", "GET /?token={}&x=1", KEY),
    within("?access_token=", "https://h/?a=1&access_token={}", KEY),
    within("?api_key=", "https://h/?api_key={}", KEY),
    within("?key=", "https://h/?key={}", KEY),
    within("?code=", "https://h/cb?code={}&state=1", KEY),
    within("?password=", "jdbc:mysql://h/db?user=u&password={}", PASSWORD),
    within("S3", "https://b.s3/x?X-Amz-Credential={}&X-Amz-Signature={}", made("cred", 20, UPPER), HEXKEY),
    within("S3 security token", "https://b.s3/x?X-Amz-Security-Token={}", KEY),
    within("S3, version 2", "https://b.s3/x?Expires=1&Signature={}", base64_of("s3v2", 20)),
    within("Azure SAS", "https://a.blob.core.windows.net/c/b?sv=2024&sp=r&sig={}", KEY + "%3D"),
    within("Google Cloud Storage", "https://storage/x?X-Goog-Signature={}", HEXKEY),
    within("CloudFront", "https://d.cloudfront.net/x?Policy={}&Signature={}", KEY, HEXKEY),
)

WEBHOOKS = (
    within("Slack", "https://hooks.slack" + ".com/services/T0/B0/{}", KEY),
    within("Slack workflow", "https://hooks.slack" + ".com/workflows/T0/A0/1/{}", KEY),
    within("Discord", "https://discord" + ".com/api/webhooks/1/{}", KEY),
    within("Teams", "https://x.webhook.office" + ".com/webhookb2/{}/IncomingWebhook/{}/1", UUID, HEXKEY),
    within("Power Automate", "https://prod.logic.azure" + ".com/workflows/{}/triggers?sig={}", HEXKEY, KEY),
    within("Google Chat", "https://chat.googleapis.com/v1/spaces/A/messages?key={}&token={}", KEY, HEXKEY),
    within("Feishu", "https://open.feishu" + ".cn/open-apis/bot/v2/hook/{}", UUID),
    within("DingTalk", "https://oapi.dingtalk.com/robot/send?access_token={}", HEXKEY),
    within("WeCom", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", UUID),
    within("Zapier", "https://hooks.zapier" + ".com/hooks/catch/1/{}/", KEY),
    within("IFTTT", "https://maker.ifttt" + ".com/trigger/x/with/key/{}", KEY),
    within("Mattermost", "https://chat.example.org/hooks/{}", made("mm", 26, LOWER)),
    within("Telegram", "https://api.telegram" + ".org/bot{}/sendMessage", "1234567890:" + "A" + "A" + made("tg2", 33)),
)

FILES = (
    within("netrc on one line", "machine api.wandb.ai login user password {}", HEXKEY),
    within("netrc on three lines", "machine api.wandb.ai\n  login user\n  password {}", HEXKEY),
    within("netrc, a password of letters", "machine h login user password {}", "correct" + "horse"),
    within("Docker's auths", '{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}', base64_of("auths", 24)),
    within("npmrc", "//registry.npmjs.org/:_authToken={}", KEY),
    within("npmrc _auth", "_auth={}", base64_of("npmauth", 24)),
    within("pypirc", "[pypi]\nusername = u\npassword = {}", PASSWORD),
    within("AWS credentials", "[default]\naws_secret_access_key = {}", base64_of("awssec", 30)),
    within("AWS session token", "aws_session_token={}", base64_of("awsst", 48)),
    within("YAML", "registry:\n  password: {}\n  user: u", PASSWORD),
    within("YAML, letters", "registry:\n  password: {}\n", "correct" + "horse"),
    within("TOML", 'api_key = "{}"', KEY),
    within("JSON", '{{"client_secret": "{}", "x": 1}}', KEY),
    within("escaped JSON", '{{\\"client_secret\\": \\"{}\\"}}', KEY),
    within("camelCase", '{{"accessToken": "{}"}}', KEY),
    within("kubeconfig token", "users:\n- user:\n    token: {}", KEY),
    within("kubeconfig key", "    client-key-data: {}", base64_of("ckd", 60)),
    within("Azure storage", "AccountName=x;AccountKey={};Suffix=y", base64_of("acc", 60)),
    within("Azure Service Bus", "Endpoint=sb://x/;SharedAccessKey={}", base64_of("sb", 30)),
    within("ODBC", "Server=h;Uid=u;Pwd={};", PASSWORD),
    within("rclone", "[remote]\npass = {}", KEY),
    within("libpq", "host=h user=u password={} dbname=d", PASSWORD),
    within("export", "export DB_PW={}", PASSWORD),
    within("export, quoted with a space", 'export DB_PASSWORD="{}"', "hunter" + "2 and more"),
    within("digits", "DB_PASSWORD={}", "9182" + "7364"),
    within("SMTP_PASS", "SMTP_PASS={}", PASSWORD),
    within("TOKEN_2", "TOKEN_2={}", KEY),
    within("SECRET_VALUE", "SECRET_VALUE={}", KEY),
    within("SSH_KEY_B64", "SSH_KEY_B64={}", base64_of("sshb64", 60)),
    within("WANDB_API_KEY in a dump", "'WANDB_API_KEY': '{}'", HEXKEY),
    within("dataclass", "Settings(user='u', auth_token='{}')", KEY),
    within("pydantic error", "api_key\n  Input should be shorter [type=x, input_value='{}', input_type=str]", KEY),
    within("JSON of a variable", '{{"name": "HF_TOKEN", "value": "{}"}}', KEY),
    within("YAML of a variable", "- name: DB_PASSWORD\n  value: {}", PASSWORD),
    within("SLURM --export", "sbatch --export=ALL,DB_PASSWORD={},X=1 job.sh", PASSWORD),
    within("docker -e", "docker run -e DB_PASSWORD={} image", PASSWORD),
    within("prose: API key provided", "Incorrect API key provided: {}. You can find", KEY),
    within("prose: token is", "the token is {}", HEXKEY),
    within("prose: invalid secret", "invalid secret '{}'", KEY),
    within("set -x", "+ WANDB_KEY={}", HEXKEY),
    within("bash array", "ARGS=(--hf_token {} --x)", KEY),
    within("INI with percent", "proxy_password = {}", "100" + "%-sure9"),
    within("passcode", "otp_passcode={}", "AB" + "12CD34"),
)

SHAPES = BY_FORM + BLOCKS + OPTIONS + HEADERS + URLS + WEBHOOKS + FILES

SECRET_NAMES = (
    "PASS", "PW", "TOKEN_2", "SECRET_VALUE", "SSH_KEY_B64", "DB_PW", "DB_PASS", "SMTP_PASS", "MYSQL_ROOT_PASSWORD",
    "API_TOKEN_OLD", "JWT_SIGNING_KEY", "PRIVATE_KEY_PEM", "ENCRYPTION_KEY_BASE64", "AWS_SECRET", "OPENAI_KEY",
    "APIKEY_PROD", "HF_TOKEN_WRITE", "SECRET_KEY_BASE", "COOKIE_SECRET", "NEXTAUTH_SECRET", "ROOT_PWD", "RCLONE_PASS",
    "GPG_PASSPHRASE", "TOKEN1", "PASSWORD2", "dbPassword", "apiKey", "clientSecret", "REGISTRY_CREDS", "CI_JOB_TOKEN",
    "AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET", "SLACK_WEBHOOK", "TEAMS_WEBHOOK_URL", "SESSION_COOKIE",
    "SERVICE_ACCOUNT_KEY_JSON", "DEPLOY_KEY", "RESTIC_PASSWORD", "VAULT_TOKEN", "KEY", "MASTER_KEY", "ID_RSA_KEY",
)  # fmt: skip
"""Names of variables whose value is a secret."""

PLAIN_NAMES = (
    "PATH", "PWD", "OLDPWD", "HOME", "MAX_TOKENS", "NUM_TOKENS", "TOKENS_PER_SECOND", "PAD_TOKEN", "EOS_TOKEN_ID",
    "TOKENIZER_PATH", "TOKENIZERS_PARALLELISM", "HF_TOKEN_PATH", "HF_TOKEN_FILE", "SECRET_FILE", "PASSWORD_FILE", "PGPASSFILE",
    "SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD", "MONKEY", "BYPASS", "COMPASS", "PASS_RATE", "PASS_AT_K", "KEYMAP",
    "AUTH_TYPE", "TOKEN_LIMIT", "TOKEN_COUNT", "PASSES", "KEY_FILE", "SSL_CERT_FILE", "SECRET_NAME", "TOKEN_TYPE",
    "PATTERN", "AUTHOR", "SASL_MECHANISM", "PASSWORD_MIN_LENGTH",
)  # fmt: skip
"""Names of variables whose value is no secret."""

COMMIT, DIGEST = made("commit", 40, HEX), made("digest", 64, HEX)

HARMLESS = (
    f"HEAD is now at {COMMIT}",
    f"verl @ git+https://github.com/volcengine/verl@{COMMIT}",
    f"docker.io/library/python@sha256:{DIGEST}",
    f"sha256:{DIGEST}",
    f"--hash=sha256:{DIGEST}",
    f"request id {UUID}",
    f"MIG-{UUID}",
    f"CUDA_VISIBLE_DEVICES=MIG-{UUID}",
    f"GPU-{UUID}",
    f"UUID={UUID} / ext4 defaults",
    f"blob {made('blob', 40, HEX)} 12",
    f"container {DIGEST[:12]} exited",
    "max_tokens=4096",
    "max_tokens: 131072",
    "max_num_batched_tokens=8192",
    "--max-tokens 131072",
    "--max-num-batched-tokens=16384",
    "tokens per second: 1234.5",
    "token_count=123456",
    "num_tokens: 1234567",
    "pad_token: <|endoftext|>",
    "pad_token_id=151643",
    "eos_token=<|im_end|>",
    "eos_token: '<|im_end|>'",
    "bos_token = '<|begin_of_text|>'",
    "stop_token_ids=[151643, 151645]",
    "loss_agg_mode=token-mean",
    "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-mean",
    "ppo_max_token_len_per_gpu=16384",
    "use_dynamic_bsz with log_prob_max_token_len_per_gpu=24576",
    "--tokenizer Qwen/Qwen2.5-7B-Instruct",
    "tokenizer=/models/qwen2.5/tokenizer.json",
    "tokenizer_path: /shared/models/Qwen2.5-0.5B",
    "HF_TOKEN_PATH=/home/user/.cache/huggingface/token",
    "token file /home/user/.cache/huggingface/token",
    "PASSWORD_FILE=/run/secrets/database_password",
    "prompt_key=prompt",
    "data.prompt_key: prompt",
    "data.reward_fn_key=data_source",
    "data.image_key=images",
    "key=prompt",
    "primary key: task_id",
    "KeyError: 'data_source'",
    "unknown key `trainer.total_epochs`",
    "key: actor_rollout_ref.rollout.gpu_memory_utilization",
    "/home/user/.ssh/id_ed25519.pub",
    "/home/user/.cache/key.pem",
    "ssh_private_key_file=/home/user/.ssh/id_ed25519",
    "IdentityFile ~/.ssh/id_rsa",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made("public", 43) + " user@host",
    f"-----BEGIN CERTIFICATE-----\n{BODY[:64]}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{BODY[:64]}\n-----END PUBLIC KEY-----",
    "password is asked for",
    'FATAL: password authentication failed for user "postgres"',
    "password: required by the registry",
    "Enter password: ",
    "password=***",
    "password=None",
    'password = ""',
    "api_key=None",
    "api_key=EMPTY",
    "api_key: null",
    "api_key=$OPENAI_API_KEY",
    "api_key=${oc.env:OPENAI_API_KEY}",
    "export HF_TOKEN=$(cat /run/token)",
    "WANDB_API_KEY is not set",
    "set WANDB_API_KEY or run `wandb login`",
    "wandb login failed",
    "wandb: ERROR api_key not configured (no-tty). call wandb.login(key=[your_api_key])",
    "401 Client Error: Unauthorized for url: https://huggingface.co/api/whoami-v2",
    "Invalid username or password.",
    "Bearer authentication is required",
    'WWW-Authenticate: Basic realm="registry"',
    "basic understanding of",
    "unexpected token: newline",
    "SyntaxError: unexpected token 'else'",
    "JSONDecodeError: unexpected token at position 17",
    "the first token is <think>",
    "secret santa",
    "authored by someone",
    "author=someone@example.org",
    "ssh://git@github.com/x",
    "git@github.com:volcengine/verl.git",
    "http://user@host/path",
    "https://host:8000/health",
    "http://10.0.0.1:8000/v1/completions?timeout=30",
    "tcp://10.0.0.1:29500",
    "https://huggingface.co/Qwen/Qwen2.5-7B-Instruct/resolve/main/tokenizer_config.json",
    "60 samples do not divide over 8 GPUs",
    "scikit-learn 1.5.0 and sk-learn-contrib-extensions",
    "hf_transfer and hf_hub_download are installed",
    "npm_config_cache=/tmp/npm",
    "task-abcdefghijklmnopqrstuvwxyz",
    "SLURM_JOB_ID=1234567",
    "NCCL_SOCKET_IFNAME=eth0",
    "mkdir -p /tmp/cache/of/models",
    "ssh -p 2222 login01",
    "podman run -p 8000:8000 image",
    "tar -pxf archive.tar",
    "python -u train.py --user-config config/user.yaml",
    "srun -u python train.py",
    "podman run -u 1000:1000 image",
    "rsync -a source/ target/",
    "pass@1=0.4321",
    "pass_rate: 0.8750",
    "test_parser.py::test_token PASSED",
    "author_key=a1",
    "session started at 2026-11-22T21:00:00",
    "session=step-12",
    "checkpoint global_step_100 written",
    "/shared/checkpoints/2026-11-22/global_step_100/actor/model_world_size_8_rank_0.pt",
    "RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_generate_sequences() (pid=1234, ip=10.0.0.1)",
    "Signature: generate(prompt, sampling_params)",
    "signature=(prompt: str) -> str",
    "exit code=137, state=OOMKilled",
    "HTTP status code=503",
    "cookie cutter template",
    "sort_keys=True",
    "image_key='images'",
    "Requirement already satisfied: tokenizers<0.22,>=0.21 in /opt/venv/lib/python3.12/site-packages (0.21.4)",
)
"""Texts that must stay as they are."""
