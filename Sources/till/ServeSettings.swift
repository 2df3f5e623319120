import Commerce
import Configuration
import Foundation

/// The settings of `till serve`, from the command line, the environment and the file, in this order.
struct ServeSettings {
    /// Every setting there is; a file that names another has a typo in it.
    static let names: Set<String> = [
        "host", "port", "accept", "sandbox-users", "ownership", "transfer-pause-seconds", "data", "ledger", "catalog",
        "app-apple-id", "apps",
        "tls-certificate",
        "tls-key", "jwt-issuer", "jwt-audience", "jwt-keys",
        "jwt-algorithms", "maximum-connections", "maximum-connections-per-address", "maximum-streams-per-address",
        "maximum-body-megabytes", "idle-seconds", "request-seconds", "requests-per-minute",
        "user-requests-per-minute", "grace-seconds", "log-level", "log-format", "app-store-key", "app-store-key-id",
        "app-store-issuer-id", "app-store-url", "reconcile-seconds", "reconcile-customers-seconds", "refund-preference",
        "sample-content-provided", "accounts", "profiles", "seed-app", "live-events",
        "catalog-administration", "keep-proofs", "webhooks", "figures",
        "webhook-private-addresses", "proxies", "mail-from", "mail-links", "mail-server", "mail-certificates",
        "mail-username", "mail-password", "mail-password-file", "mail-webhook", "mail-webhook-file",
        "mail-webhook-secret",
        "mail-webhook-secret-file", "mail-templates",
    ]

    /// The variables that are no settings of the service, which other commands read.
    private static let otherVariables = ["TILL_API_KEY", "TILL_TOKEN", SandboxKeyOptions.variable]

    /// The environment variables whose names begin with TILL_ and that nothing reads, each with a sentence.
    static func unknownVariables(_ environment: [String: String]) -> [String] {
        let known =
            names.filter { $0 != "apps" }.map { "TILL_" + $0.uppercased().replacing("-", with: "_") } + otherVariables
        return environment.keys.filter { $0.hasPrefix("TILL_") && !known.contains($0) }.sorted().map {
            "The variable \($0) is unknown and has no effect.\(Suggestion.sentence(for: $0, among: known))"
        }
    }

    private let reader: ConfigReader
    /// The apps of a service that sells several; nil for a service with one app.
    let apps: [AppSettings]?

    /// - Parameters:
    ///   - dataPath: As given on the command line.
    ///   - catalogPath: As given on the command line.
    init(_ options: ServeOptions, dataPath: String?, catalogPath: String?) async throws {
        var given: [String: ConfigContent] = [:]
        given["host"] = options.host.map { .string($0) }
        given["port"] = options.port.map { .int($0) }
        given["accept"] = options.accept.isEmpty ? nil : .stringArray(options.accept.map(\.rawValue))
        given["sandbox-users"] = options.sandboxUsers.isEmpty ? nil : .stringArray(options.sandboxUsers)
        given["ownership"] = options.ownership.map { .string($0) }
        given["transfer-pause-seconds"] = options.transferPauseSeconds.map { .int($0) }
        given["data"] = dataPath.map { .string($0) }
        given["catalog"] = catalogPath.map { .string($0) }
        given["app-apple-id"] = options.appAppleId.map { .int($0) }
        given["ledger"] = options.ledger.map { .string($0) }
        given["tls-certificate"] = options.tlsCertificate.map { .string($0) }
        given["tls-key"] = options.tlsKey.map { .string($0) }
        given["jwt-issuer"] = options.jwtIssuer.map { .string($0) }
        given["jwt-audience"] = options.jwtAudience.map { .string($0) }
        given["jwt-keys"] = options.jwtKeys.map { .string($0) }
        given["jwt-algorithms"] = options.jwtAlgorithms.isEmpty ? nil : .stringArray(options.jwtAlgorithms)
        given["maximum-connections"] = options.maximumConnections.map { .int($0) }
        given["maximum-connections-per-address"] = options.maximumConnectionsPerAddress.map { .int($0) }
        given["maximum-streams-per-address"] = options.maximumStreamsPerAddress.map { .int($0) }
        given["maximum-body-megabytes"] = options.maximumBodyMegabytes.map { .int($0) }
        given["idle-seconds"] = options.idleSeconds.map { .int($0) }
        given["request-seconds"] = options.requestSeconds.map { .int($0) }
        given["requests-per-minute"] = options.requestsPerMinute.map { .int($0) }
        given["user-requests-per-minute"] = options.userRequestsPerMinute.map { .int($0) }
        given["grace-seconds"] = options.graceSeconds.map { .int($0) }
        given["log-level"] = options.logLevel.map { .string($0) }
        given["log-format"] = options.logFormat.map { .string($0) }
        given["app-store-key"] = options.appStoreKey.map { .string($0) }
        given["app-store-key-id"] = options.appStoreKeyId.map { .string($0) }
        given["app-store-issuer-id"] = options.appStoreIssuerId.map { .string($0) }
        given["app-store-url"] = options.appStoreUrl.map { .string($0) }
        given["reconcile-seconds"] = options.reconcileSeconds.map { .int($0) }
        given["reconcile-customers-seconds"] = options.reconcileCustomersSeconds.map { .int($0) }
        given["refund-preference"] = options.refundPreference.map { .string($0) }
        given["sample-content-provided"] = options.sampleContentProvided ? .bool(true) : nil
        given["accounts"] = options.accounts ? .bool(true) : nil
        given["profiles"] = options.profiles ? .bool(true) : nil
        given["seed-app"] = options.seedApp ? .bool(true) : nil
        given["live-events"] = options.liveEvents ? .bool(true) : nil
        given["catalog-administration"] = options.catalogAdministration ? .bool(true) : nil
        given["keep-proofs"] = options.keepProofs ? .bool(true) : nil
        given["webhooks"] = options.webhooks ? .bool(true) : nil
        given["figures"] = options.figures ? .bool(true) : nil
        given["webhook-private-addresses"] = options.webhookPrivateAddresses ? .bool(true) : nil
        given["mail-from"] = options.mailFrom.map { .string($0) }
        given["mail-links"] = options.mailLinks.map { .string($0) }
        given["mail-server"] = options.mailServer.map { .string($0) }
        given["mail-certificates"] = options.mailCertificates.map { .string($0) }
        given["mail-username"] = options.mailUsername.map { .string($0) }
        given["mail-password-file"] = options.mailPasswordFile.map { .string($0) }
        given["mail-webhook"] = options.mailWebhook.map { .string($0) }
        given["mail-webhook-file"] = options.mailWebhookFile.map { .string($0) }
        given["mail-webhook-secret-file"] = options.mailWebhookSecretFile.map { .string($0) }
        given["mail-templates"] = options.mailTemplates.map { .string($0) }
        given["proxies"] = options.proxies.map { .int($0) }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, content) in given { values[AbsoluteConfigKey([name])] = ConfigValue(content, isSecret: false) }
        // A variable that is empty is one that was not set.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(values: values),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "till"),
        ]
        if let file = options.configurationFile {
            let settings = try SettingsFile(path: file)
            providers.append(InMemoryProvider(values: settings.values))
            apps = settings.apps
        } else {
            apps = nil
        }
        reader = ConfigReader(providers: providers)
    }

    func text(_ name: String) async throws -> String? {
        do {
            return try await reader.fetchString(forKey: ConfigKey([name]))
        } catch {
            throw ConfigurationError(setting: name, expected: "a text")
        }
    }

    func texts(_ name: String) async throws -> [String]? {
        do {
            return try await reader.fetchStringArray(forKey: ConfigKey([name]))
        } catch {
            throw ConfigurationError(setting: name, expected: "a list of texts")
        }
    }

    func number(_ name: String, in range: ClosedRange<Int>) async throws -> Int? {
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        do {
            guard let number = try await reader.fetchInt(forKey: ConfigKey([name])) else { return nil }
            guard range.contains(number) else { throw ConfigurationError(setting: name, expected: expected) }
            return number
        } catch {
            throw ConfigurationError(setting: name, expected: expected)
        }
    }

    func flag(_ name: String) async throws -> Bool? {
        do {
            return try await reader.fetchBool(forKey: ConfigKey([name]))
        } catch {
            throw ConfigurationError(setting: name, expected: "true or false")
        }
    }
}
