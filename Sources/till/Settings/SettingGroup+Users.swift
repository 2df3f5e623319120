import HTTPSupport
import Service

extension SettingGroup {
    static let users = SettingGroup(
        title: "Users",
        settings: [
            Setting(
                "jwt-issuer", .text, valueName: "issuer", "the issuer of users' tokens (`iss`), which opens `/v1/me`"),
            Setting(
                "jwt-audience", .text, valueName: "audience", dependency: "jwt-issuer",
                "the audience of these tokens: a value of their `aud`"),
            Setting(
                "jwt-keys", .text, valueName: "file-or-url", dependency: "jwt-issuer",
                "the issuer's JWK Set: a file, or its https address"),
            Setting(
                "jwt-algorithms", .choices(TokenAlgorithm.allCases.map(\.rawValue)),
                default: .value(.texts(["ES256", "RS256"])), valueName: "algorithm", dependency: "jwt-issuer",
                "the accepted algorithms of tokens"),
            Setting(
                "blocked-user-names", .texts, valueName: "name", reference: "[API](API.md#blocked-names)",
                "further names and ids that stand for no user, like `null` and `guest`, which are always blocked"),
            .flag(
                "accounts", reference: "[API](API.md#accounts)", "lets users sign up with e-mail and password"),
            .flag(
                "profiles", reference: "[API](API.md#profiles-and-wishes)",
                "lets users have a nickname, choose items to wear, and wish for products"),
            .flag(
                "live-events", reference: "[API](API.md#live-events)",
                "lets apps listen to the changes of their users; each listener uses one of `maximum-connections`"),
            Setting(
                "doors", .choices(Door.allCases.map(\.rawValue)), valueName: "door",
                reference: "[Doors](Doors.md)",
                "speaks the protocols of other purchase servers, for apps whose SDKs know them"),
            .flag(
                "seed-app", dependency: "jwt-issuer", reference: "[API](API.md#the-seeds-app)",
                "serves the app that Till began with in its own wire form, under `/v1/user`"),
        ])

    static let team = SettingGroup(
        title: "Team",
        settings: [
            .flag(
                "catalog-administration", reference: "[API](API.md#catalog-administration)",
                "lets back ends create, edit and withdraw products"),
            .flag(
                "webhooks", reference: "[API](API.md#webhooks)",
                "sends back ends the changes of their users' purchases"),
            .flag(
                "webhook-private-addresses",
                "lets webhooks be in private networks, on this machine, and without TLS"),
            .flag("figures", reference: "[Figures](Figures.md)", "keeps sums of sales, and answers with figures"),
            .flag(
                "console", reference: "[Console](Console.md)",
                "serves the web console at `/console`; `till console add-user` adds people"),
        ])

    static let mail = SettingGroup(
        title: "Mail",
        settings: [
            Setting(
                "mail-from", .text, valueName: "address", dependency: "accounts",
                "the sender: an address, or `NAME <ADDRESS>`"),
            Setting(
                "mail-links", .text, valueName: "url", dependency: "accounts",
                "your page to which links lead: `https`, a scheme of your app, or `http` on this machine; the token follows after `#`"
            ),
            Setting(
                "mail-server", .text, valueName: "url", dependency: "accounts",
                "the mail server: `smtp://HOST:PORT` with STARTTLS (port 587 by default), or `smtps://HOST:PORT` with TLS from the first byte (465). A server on this machine is reached without TLS, unless `mail-certificates` is set"
            ),
            Setting(
                "mail-certificates", .text, default: .described("the system's"), valueName: "file",
                dependency: "mail-server", "the certificates, in PEM, in which the mail server's chain must end"),
            Setting(
                "mail-username", .text, valueName: "name", dependency: "mail-server", "the user at the mail server"),
            Setting(
                "mail-password", .text, dependency: "mail-server", isSecret: true,
                "the user's password, in the environment or the file alone"),
            Setting(
                "mail-password-file", .text, valueName: "file", dependency: "mail-server",
                "a file with the user's password, instead of `mail-password`"),
            Setting(
                "mail-webhook", .text, valueName: "url", dependency: "accounts",
                "the address of your own mailer instead of a server: `https`, or `http` on this machine"),
            Setting(
                "mail-webhook-file", .text, valueName: "file", dependency: "accounts",
                "a file with this address, if it contains a secret"),
            Setting(
                "mail-webhook-secret", .text, dependency: "mail-webhook", isSecret: true,
                "the secret that signs its requests, in the environment or the file alone: `whsec_` and 24 bytes or more in base64"
            ),
            Setting(
                "mail-webhook-secret-file", .text, valueName: "file", dependency: "mail-webhook",
                "a file with this secret, instead of `mail-webhook-secret`"),
            Setting(
                "mail-templates", .text, default: .described("Till's own"), valueName: "folder",
                dependency: "accounts", "a folder with texts that replace Till's own, such as `reset.en.txt`"),
        ])
}
