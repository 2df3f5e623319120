import Catalog
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import ServiceLifecycle

/// The settings by which `till serve` asks Google Play about purchase tokens, and acknowledges purchases.
struct GooglePlaySettings {
    /// The path of the key file of all apps without their own; nil if each app has its own.
    let account: String?
    /// The address of the Play Developer API; nil for Google's.
    let url: URL?

    /// - Parameter apps: The apps of the service; empty if it has one that is configured by itself.
    /// - Returns: Nil if no service account is set.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings, origins: Set<Origin>, apps: [AppSettings]) throws(ConfigurationError) {
        account = settings.text("google-service-account")
        if account == nil, apps.allSatisfy({ $0.googleServiceAccount == nil }) {
            try settings.refuse(["google-play-url"], without: "google-service-account")
            return nil
        }
        url = try settings.text("google-play-url").map { text throws(ConfigurationError) in
            guard let address = ServerAddress(argument: text), address.isConfidential else {
                throw settings.failure("google-play-url", ServerAddress.expected)
            }
            return address.url
        }
        let addresses =
            apps.isEmpty
            ? [url] : apps.filter { ($0.googleServiceAccount ?? account) != nil }.map { $0.googlePlayURL ?? url }
        try settings.require(
            !addresses.contains(nil) || !origins.isDisjoint(with: [.googleProduction, .googleTest]), "google-play-url",
            "set: Google answers for google/Production and google/Test alone, and accept has neither")
        // Whoever reaches a local Google Play can mint purchases.
        try settings.require(
            addresses.allSatisfy { $0 == nil } || !origins.isDisjoint(with: [.localPlayProduction, .localPlayTest]),
            "google-play-url",
            "left out: another address than Google's is that of a local Google Play, and accept has no origin of one")
        try settings.requireFile("google-service-account")
    }
}

/// The parts of the service that ask Google Play, or a local one.
struct GooglePlayServices {
    private(set) var apps = GooglePlayApps()
    private(set) var backgroundServices: [any ServiceLifecycle.Service] = []

    /// - Parameter appKeys: The trusted keys of apps, which name the packages.
    /// - Throws: `CommandError` for a key file that cannot be read; `GoogleServiceAccountError` for one of another form;
    ///   `ConfigurationError` for an app without a package.
    init(
        service: EntitlementService,
        configuration: ServeConfiguration,
        appKeys: [AppKey],
        metrics: ServiceMetrics
    ) throws {
        guard let settings = configuration.googlePlay else { return }
        var all: [GooglePlayApp] = []
        for app in service.apps.all {
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            guard let file = own?.googleServiceAccount ?? settings.account else { continue }
            let account = try GoogleServiceAccount(
                json: FileHandle.bytes(of: file, upTo: GoogleServiceAccount.maximumSize + 1))
            let url = own?.googlePlayURL ?? settings.url
            let realm: Realm = url == nil ? .google : .localPlay
            for packageName in try Self.packageNames(of: app, in: realm, by: appKeys) {
                all.append(
                    GooglePlayApp(
                        client: PlayDeveloperClient(
                            account: account, url: url ?? PlayDeveloperClient.googleURL, packageName: packageName,
                            realm: realm, clock: service.clock),
                        app: app, entitlements: service))
            }
        }
        apps = GooglePlayApps(all)
        backgroundServices = all.map { $0.acknowledger(metrics: metrics, logger: configuration.logger) }
    }

    /// The packages of an app: those of its trusted keys, or else the one that has the app's bundle identifier as its name.
    private static func packageNames(
        of app: App, in realm: Realm, by appKeys: [AppKey]
    ) throws(ConfigurationError) -> [String] {
        let keys = appKeys.filter {
            $0.realm == realm && $0.bundleIdentifier.hasSameBytes(as: app.bundleIdentifier)
        }
        guard keys.isEmpty else { return Set(keys.map(\.packageName)).sorted() }
        guard AppKey.isPackageName(app.bundleIdentifier) else {
            throw ConfigurationError(
                message:
                    "No app on Google Play has the name \"\(app.bundleIdentifier)\". Add the app's key and its package: "
                    + "`till trust add FILE --package NAME --bundle-id \(app.bundleIdentifier)`.")
        }
        return [app.bundleIdentifier]
    }
}
