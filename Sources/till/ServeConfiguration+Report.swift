import Foundation

/// The configuration of the service, for `--print-configuration`. Secrets are left out: a password in the ledger's address,
/// that of the mail server, and the secret of a mailer's webhook.
extension ServeConfiguration {
    struct Report: Encodable {
        let host: String
        let port: Int
        let accept: [String]
        let sandboxUsers: [String]?
        let ownership: String
        let transferPauseSeconds: Int64?
        let data: String
        let ledger: String?
        let catalog: String?
        let appAppleId: Int64?
        let apps: [AppSettings]?
        let tlsCertificate: String?
        let tlsKey: String?
        let jwtIssuer: String?
        let jwtAudience: String?
        let jwtKeys: String?
        let jwtAlgorithms: [String]?
        let maximumConnections: Int
        let maximumConnectionsPerAddress: Int?
        let maximumStreamsPerAddress: Int
        let maximumBodyMegabytes: Int
        let idleSeconds: Int64
        let requestSeconds: Int64
        let requestsPerMinute: Int
        let userRequestsPerMinute: Int
        let graceSeconds: Int64
        let logLevel: String
        let logFormat: String
        let accounts: Bool
        let mailFrom: String?
        let mailLinks: String?
        let mailServer: String?
        let mailCertificates: String?
        let mailUsername: String?
        let mailPasswordFile: String?
        let mailWebhook: String?
        let mailWebhookFile: String?
        let mailWebhookSecretFile: String?
        let mailTemplates: String?
        let profiles: Bool
        let seedApp: Bool
        let liveEvents: Bool
        let catalogAdministration: Bool
        let keepProofs: Bool
        let webhooks: Bool
        let figures: Bool
        let webhookPrivateAddresses: Bool
        let proxies: Int
        let appStoreKey: String?
        let appStoreKeyId: String?
        let appStoreIssuerId: String?
        let appStoreURL: String?
        let reconcileSeconds: Int64?
        let reconcileCustomersSeconds: Int64?
        let refundPreference: String?
        let sampleContentProvided: Bool?

        enum CodingKeys: String, CodingKey {
            case host, port, accept, ownership, data, ledger, catalog, apps, accounts, profiles, webhooks, figures,
                proxies
            case appAppleId = "app-apple-id"
            case mailFrom = "mail-from"
            case mailLinks = "mail-links"
            case mailServer = "mail-server"
            case mailCertificates = "mail-certificates"
            case mailUsername = "mail-username"
            case mailPasswordFile = "mail-password-file"
            case mailWebhook = "mail-webhook"
            case mailWebhookFile = "mail-webhook-file"
            case mailWebhookSecretFile = "mail-webhook-secret-file"
            case mailTemplates = "mail-templates"
            case liveEvents = "live-events"
            case keepProofs = "keep-proofs"
            case catalogAdministration = "catalog-administration"
            case webhookPrivateAddresses = "webhook-private-addresses"
            case seedApp = "seed-app"
            case sandboxUsers = "sandbox-users"
            case transferPauseSeconds = "transfer-pause-seconds"
            case tlsCertificate = "tls-certificate"
            case tlsKey = "tls-key"
            case jwtIssuer = "jwt-issuer"
            case jwtAudience = "jwt-audience"
            case jwtKeys = "jwt-keys"
            case jwtAlgorithms = "jwt-algorithms"
            case maximumConnections = "maximum-connections"
            case maximumConnectionsPerAddress = "maximum-connections-per-address"
            case maximumStreamsPerAddress = "maximum-streams-per-address"
            case maximumBodyMegabytes = "maximum-body-megabytes"
            case idleSeconds = "idle-seconds"
            case requestSeconds = "request-seconds"
            case requestsPerMinute = "requests-per-minute"
            case userRequestsPerMinute = "user-requests-per-minute"
            case graceSeconds = "grace-seconds"
            case logLevel = "log-level"
            case logFormat = "log-format"
            case appStoreKey = "app-store-key"
            case appStoreKeyId = "app-store-key-id"
            case appStoreIssuerId = "app-store-issuer-id"
            case appStoreURL = "app-store-url"
            case reconcileSeconds = "reconcile-seconds"
            case reconcileCustomersSeconds = "reconcile-customers-seconds"
            case refundPreference = "refund-preference"
            case sampleContentProvided = "sample-content-provided"
        }
    }

    var report: Report {
        Report(
            host: server.host, port: server.port, accept: origins.map(\.rawValue).sorted(),
            sandboxUsers: sandboxUsers.isEmpty ? nil : sandboxUsers.map(\.listed).sorted(), ownership: ownership.name,
            transferPauseSeconds: ownership.pauseSeconds,
            data: DataDirectory(path: dataPath).folder.path, ledger: ledger?.description,
            catalog: catalogPath, appAppleId: appAppleIdentifier, apps: appSettings.isEmpty ? nil : appSettings,
            tlsCertificate: server.tls?.certificate.path,
            tlsKey: server.tls?.key.path, jwtIssuer: tokens?.issuer,
            jwtAudience: tokens?.audiences.first { $0.app == nil }?.name,
            jwtKeys: tokens?.keys.description, jwtAlgorithms: tokens?.algorithms.map(\.rawValue).sorted(),
            maximumConnections: server.maximumConnections,
            maximumConnectionsPerAddress: maximumConnectionsPerAddress,
            maximumStreamsPerAddress: maximumStreamsPerAddress, maximumBodyMegabytes: maximumBodyMegabytes,
            idleSeconds: server.idleTime.components.seconds, requestSeconds: server.requestTime.components.seconds,
            requestsPerMinute: server.requestLimits.perKey, userRequestsPerMinute: server.requestLimits.perUser,
            graceSeconds: server.gracePeriod.components.seconds,
            logLevel: logger.logLevel.rawValue, logFormat: logFormat.rawValue, accounts: hasAccounts,
            mailFrom: mail?.from, mailLinks: mail?.links.url, mailServer: mail?.serverURL,
            mailCertificates: mail?.certificates, mailUsername: mail?.username,
            mailPasswordFile: mail?.passwordFile, mailWebhook: mail?.webhookURL, mailWebhookFile: mail?.webhookFile,
            mailWebhookSecretFile: mail?.webhookSecretFile, mailTemplates: mail?.templateFolder,
            profiles: hasProfiles, seedApp: servesSeedApp,
            liveEvents: hasLiveEvents, catalogAdministration: administersCatalog, keepProofs: keepsProofs,
            webhooks: hasWebhooks, figures: hasFigures,
            webhookPrivateAddresses: allowsPrivateWebhooks,
            proxies: proxies,
            appStoreKey: appStore?.key?.file,
            appStoreKeyId: appStore?.key?.keyIdentifier,
            appStoreIssuerId: appStore?.key?.issuerIdentifier, appStoreURL: appStore?.url?.absoluteString,
            reconcileSeconds: appStore.map { $0.notificationSeconds ?? 0 },
            reconcileCustomersSeconds: appStore.map { $0.historySeconds ?? 0 },
            refundPreference: appStore?.consumption.map { $0.refundPreference?.rawValue ?? "NONE" },
            sampleContentProvided: appStore?.consumption?.sampleContentProvided)
    }

    /// The same as a file that `--config` takes.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}
