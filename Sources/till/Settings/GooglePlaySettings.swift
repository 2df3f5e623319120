import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Logging
import Proofs
import Service
import ServiceLifecycle

/// The settings by which `till serve` asks Google Play about purchase tokens, and acknowledges purchases.
struct GooglePlaySettings {
    /// The path of the key file of all apps without their own; nil if each app has its own.
    let account: String?
    /// The address of the Play Developer API; nil for Google's.
    let url: URL?
    /// The sender of notifications; nil to receive none.
    let notifications: PushTokens.Settings?

    /// The settings of notifications. The last one has a default.
    private static let notificationNames = [
        "google-notifications-audience", "google-notifications-email", "google-certificates-url",
    ]

    /// - Returns: Nil if no service account is set.
    init?(_ settings: ServeSettings, origins: Set<Origin>) throws(ConfigurationError) {
        let apps = settings.apps
        account = settings.text("google-service-account")
        if account == nil, apps.allSatisfy({ $0.googleServiceAccount == nil }) {
            try settings.refuse(["google-play-url"] + Self.notificationNames, without: "google-service-account")
            return nil
        }
        url = try settings.address("google-play-url")
        notifications = try Self.notifications(settings)
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

    /// The answer about disputed payments; nil if the service does not answer. A Play beside the service needs no account of the settings.
    static func refundReview(_ settings: ServeSettings) throws(ConfigurationError) -> RefundReviewAnswer? {
        let (name, sample) = ("google-refund-preference", "google-sample-content-provided")
        guard let preference = settings.text(name).flatMap(GoogleRefundPreference.init(rawValue:)) else {
            try settings.refuse([sample], without: name)
            return nil
        }
        return (preference, settings.flag(sample))
    }

    /// The moment before which a consumed purchase is refused; nil to grant each once.
    static func consumedRefusedBefore(_ settings: ServeSettings) throws(ConfigurationError) -> Timestamp? {
        let name = "google-refuse-consumed-before"
        guard let text = settings.text(name) else { return nil }
        guard let moment = CalendarDay(text)?.start ?? Timestamp(internetDateTime: text) else {
            throw settings.failure(name, "a date of UTC such as 2026-10-31, or a time such as 2026-10-31T09:00:00Z")
        }
        return moment
    }

    private static func notifications(
        _ settings: ServeSettings
    ) throws(ConfigurationError) -> PushTokens.Settings? {
        let names = notificationNames
        let values = names.prefix(2).compactMap(settings.text)
        if values.isEmpty {
            try settings.refuse([names[2]], without: names[0])
            return nil
        }
        guard values.count == 2, values.allSatisfy({ !$0.isEmpty }) else {
            let missing = names.first { settings.text($0)?.isEmpty ?? true } ?? names[0]
            throw settings.failure(missing, "set, because \(names[0]) and \(names[1]) belong together")
        }
        guard case .address? = TokenKeySource(settings.requiredText(names[2])),
            let keys = TokenKeySource(settings.requiredText(names[2]))
        else { throw settings.failure(names[2], "an https address; http is for this machine's own") }
        return PushTokens.Settings(audience: values[0], email: values[1], keys: keys)
    }
}

/// The parts of the service that ask Google Play, or a local one.
struct GooglePlayServices {
    private(set) var apps: GooglePlayApps = []
    /// Nil if the service receives no notifications.
    private(set) var notifications: GooglePlayNotifications?
    private(set) var backgroundServices: [any ServiceLifecycle.Service] = []
    /// The apps there that the team can ask for actions.
    var actions: [any StoreActionPerformer] { apps.map(GooglePlayActions.init(at:)) }

    /// - Parameters:
    ///   - appKeys: The trusted keys of apps, which name the packages.
    ///   - localPlay: The Play in this process, which the service asks instead of that of the settings.
    /// - Throws: `CommandError` for a key file that cannot be read; `GoogleServiceAccountError` for one of another form;
    ///   `ConfigurationError` for an app without a package, or two apps with one.
    init(
        service: EntitlementService,
        configuration: ServeConfiguration,
        appKeys: [AppKey],
        localPlay: LocalPlay?,
        metrics: ServiceMetrics
    ) throws {
        var all: [GooglePlayApp] = []
        for app in service.apps.all {
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            let file =
                localPlay?.serviceAccountFile.path ?? own?.googleServiceAccount ?? configuration.googlePlay?.account
            guard let file else { continue }
            let account = try GoogleServiceAccount(
                json: FileHandle.bytes(of: file, upTo: GoogleServiceAccount.maximumSize + 1))
            let url = localPlay?.url ?? own?.googlePlayURL ?? configuration.googlePlay?.url
            all += try Self.apps(
                of: app, asking: account, at: url, by: appKeys, for: service, logger: configuration.logger)
        }
        try Self.refuseSharedPackages(of: all)
        apps = all
        let logger = configuration.logger
        backgroundServices = all.flatMap { app -> [any ServiceLifecycle.Service] in
            [
                app.acknowledger(metrics: metrics, logger: logger),
                app.externalTransactionReporter(metrics: metrics, logger: logger),
            ]
        }
        if let answer = configuration.refundReview {
            backgroundServices += all.map {
                $0.refundReviewResponder(answering: answer, metrics: metrics, logger: logger)
            }
        }
        let voided = all.map { _ in GooglePlayReconciler.Requests() }
        for (app, requests) in zip(all, voided) {
            backgroundServices.append(
                app.reconciler.schedule(requests, metrics: metrics, logger: logger))
        }
        let pushTokens = localPlay?.pushTokens ?? configuration.googlePlay?.notifications
        notifications = pushTokens.map { settings in
            // Google's tokens end by the machine's clock, even if the clock of a local Play was advanced.
            GooglePlayNotifications(
                tokens: PushTokens(settings, clock: SystemClock(), logger: logger), service: service, apps: apps
            ) {
                for requests in voided { requests.request() }
            }
        }
    }

    /// - Throws: `ConfigurationError` if two apps in the catalog have the same package: each purchase would be granted once for each.
    private static func refuseSharedPackages(of apps: [GooglePlayApp]) throws(ConfigurationError) {
        var owners: [ByteKey: String] = [:]
        for app in apps {
            let (package, owner) = (app.client.packageName, app.purchases.app.bundleIdentifier)
            guard let other = owners.updateValue(owner, forKey: ByteKey(package)) else { continue }
            throw ConfigurationError(
                message:
                    "The apps \"\(other)\" and \"\(owner)\" have the same package on Google Play, \"\(package)\". Each purchase would "
                    + "be granted once for each. Remove the key of one of them with `till trust remove`, and add the key of its "
                    + "own package.")
        }
    }

    /// The apps on Google Play, or on a local one, of an app in the catalog.
    ///
    /// - Parameters:
    ///   - package: The name of the only package; nil for those of the app's keys.
    ///   - url: The address of the Play Developer API; nil for Google's.
    static func apps(
        of app: App, package: String? = nil, asking account: GoogleServiceAccount, at url: URL?, by appKeys: [AppKey],
        for service: EntitlementService, logger: Logger = Logger(label: "till")
    ) throws -> [GooglePlayApp] {
        let realm: Realm = url == nil ? .google : .localPlay
        let names = try package.map { [$0] } ?? packageNames(of: app, in: realm, by: appKeys)
        return names.map { name in
            GooglePlayApp(
                client: PlayDeveloperClient(
                    account: account, url: url ?? PlayDeveloperClient.googleURL, packageName: name, realm: realm,
                    clock: service.clock, tokenClock: SystemClock()),
                app: app, entitlements: service, logger: logger)
        }
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
                    + "`till trust add FILE --package com.example.garden --bundle-id \(app.bundleIdentifier)`.")
        }
        return [app.bundleIdentifier]
    }
}
