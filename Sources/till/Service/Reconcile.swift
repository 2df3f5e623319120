import ArgumentParser
import Catalog
import Entitlements
import Features
import Foundation
import Proofs
import Service
import Vocabulary

struct Reconcile: LedgerUser {
    static let configuration = CommandConfiguration(
        "reconcile", "Ask the App Store or Google Play for what the service missed, and apply it.",
        """
        Applies the notifications since the last run. With --customers, it also applies the whole history of each user who \
        has redeemed a purchase, or for whom an import expects one. Known statements change nothing. `till serve` does the \
        same if it has such a key.

        With the service account of an app on Google Play, it takes back the purchases that Google Play has listed as voided \
        since the last run, and asks about the purchases that have fallen silent: subscriptions whose paid period has ended, \
        or that were not asked about for a day, and pending payments.
        """,
        examples: """
            till reconcile --app-store-key AuthKey_ABC1234567.p8 \\
              --app-store-key-id ABC1234567 \\
              --app-store-issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
              --accept apple/Production
            till reconcile --google-service-account play.json --accept google/Production
            """)

    @Option(name: .customLong("app-store-key"), help: .value("file", "The .p8 file of a key from App Store Connect."))
    var key: String?

    @Option(name: .customLong("app-store-key-id"), help: .value("identifier", "The key's identifier."))
    var keyId: String?

    @Option(name: .customLong("app-store-issuer-id"), help: .value("uuid", "The issuer's identifier."))
    var issuerId: String?

    @Option(help: .value("file", "The JSON key file of a service account, to ask Google Play."))
    var googleServiceAccount: String?

    @Option(help: .package("default: those of its trusted keys, or its identifier"))
    var package: String?

    @Option(
        name: .customLong("accept"),
        help: .value(
            "origin",
            "The accepted origins (one, which selects the App Store's environment; default: local/Sandbox, with a service account localPlay/Production)."
        ))
    var accepted: Origin?

    @Option(
        help: .value(
            "url", "The address (of the App Store Server API, or of the Play Developer API; default: the store's)."))
    var url: ServerAddress?

    @Option(
        help: .value(
            "n",
            "The days to look back (of notifications; up to 180, in the sandbox up to 30; default: all since the last run)."
        ))
    var days: Int64?

    @Flag(help: "Apply the whole history of every customer, too.")
    var customers = false

    @OptionGroup var ledger: LedgerOptions

    @Option(
        name: .customLong("sandbox-users"),
        help: .value(
            "user",
            "From a sandbox, grant only this user's purchases, as the service does: NAME, or \"ISSUER NAME\"; may be repeated."
        ))
    var sandboxUsers: [String] = []

    private var accept: Origin { accepted ?? (googleServiceAccount == nil ? .localSandbox : .localPlayProduction) }

    /// The origins of each user: with --sandbox-users, those of a service that sells.
    private func acceptedOrigins() throws -> AcceptedOrigins {
        guard !sandboxUsers.isEmpty else { return AcceptedOrigins([accept]) }
        let selling: [Origin: Origin] = [.appleSandbox: .appleProduction, .localSandbox: .localProduction]
        guard let production = selling[accept], let users = Set(listed: sandboxUsers) else {
            throw ValidationError(
                "--sandbox-users takes NAME or \"ISSUER NAME\", with --accept apple/Sandbox or local/Sandbox.")
        }
        return AcceptedOrigins([production], sandboxUsers: users)
    }

    func validate() throws {
        try require((1...180).contains(days ?? 1), "--days must be a number from 1 to 180.")
        try require(
            url?.isConfidential ?? true, "--url must be an https address; http is allowed only for this machine.")
        guard googleServiceAccount == nil else { return try validateForGooglePlay() }
        try require(
            key != nil && keyId != nil && issuerId != nil,
            "Name a key of the App Store with --app-store-key, --app-store-key-id and --app-store-issuer-id, or a service "
                + "account of Google Play with --google-service-account.")
        try require(package == nil, "--package needs --google-service-account.")
        try require(
            url != nil || accept.appStoreServerURL != nil,
            "Apple's API serves only apple/Production and apple/Sandbox. Name another address with --url.")
    }

    private func validateForGooglePlay() throws {
        try require(
            key == nil && keyId == nil && issuerId == nil && days == nil && !customers && sandboxUsers.isEmpty,
            "--google-service-account stands without a key of the App Store, --days, --customers and --sandbox-users."
        )
        try require(accept.store == .playStore, "--google-service-account needs an origin of Google Play as --accept.")
        try require(
            url != nil || [.googleProduction, .googleTest].contains(accept),
            "Google's API serves only google/Production and google/Test. Name another address with --url.")
        // Whoever reaches a local Google Play can mint purchases.
        try require(
            url == nil || [.localPlayProduction, .localPlayTest].contains(accept),
            "Another address than Google's is that of a local Google Play. Leave --url out, or accept localPlay/Production."
        )
    }

    func perform() async throws {
        let accepted = try acceptedOrigins()
        let clock = SystemClock()
        let ledger = try ledger.place().open()
        let known = try await knownConfiguration(of: ledger, accepting: [accept])
        let administration = try await CatalogService(apps: known.apps, ledger: ledger, clock: clock)
        let service = EntitlementService(
            apps: administration.apps,
            verifier: try ProofVerifier(trusting: common.dataDirectory.trustedFolders, clock: clock),
            ledger: ledger, clock: clock,
            accepted: accepted, consumedRefusedBefore: known.consumedRefusedBefore)
        let asking = Progress("Asking the store")
        let reports =
            if let googleServiceAccount {
                try await googlePlayReports(of: service, asking: googleServiceAccount)
            } else {
                try await appStoreReports(of: service)
            }
        asking.end()
        for (name, report) in reports.sorted(by: { $0.key < $1.key }) {
            let counts = report.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            terminal.line("\(name): \(counts.isEmpty ? "none" : counts.joined(separator: ", "))")
            if report.hasMore { terminal.note("The store has more \(name). Run the command again for the rest.") }
        }
        try terminal.json(reports.mapValues(\.outcomes))
    }

    private typealias Reports = [String: Reconciler.Report]

    private func appStoreReports(of service: EntitlementService) async throws -> Reports {
        guard let url = url?.url ?? accept.appStoreServerURL, let key, let keyId, let issuerId else { return [:] }
        guard NamedFile.handle(of: URL(filePath: key)) != nil else {
            throw CommandError("fileUnreadable", NamedFile.fault(of: key))
        }
        let app = service.apps.first
        let serverKey = try AppStoreServerKey(
            AppStoreKeySettings(file: key, keyIdentifier: keyId, issuerIdentifier: issuerId),
            bundleIdentifier: app.bundleIdentifier)
        let reconciler = service.reconciler(
            of: app, asking: serverKey.client(at: url, clock: service.clock), about: [accept])
        var reports = ["notifications": try await reconciler.recordNotifications(days: days)]
        if customers { reports["transactions"] = try await reconciler.recordHistories() }
        return reports
    }

    private func googlePlayReports(of service: EntitlementService, asking file: String) async throws -> Reports {
        let account = try GoogleServiceAccount(
            json: FileHandle.bytes(of: file, upTo: GoogleServiceAccount.maximumSize + 1))
        let keys = try [AppKey](folders: common.dataDirectory.trustedFolders)
        let apps = try GooglePlayServices.apps(
            of: service.apps.first, package: package, asking: account, at: url?.url, by: keys, for: service)
        var reports: Reports = [:]
        for app in apps {
            let reconciler = app.reconciler
            let name = apps.count == 1 ? "" : " of \(app.client.packageName)"
            reports["voided purchases\(name)"] = try await reconciler.recordVoidedPurchases()
            reports["silent purchases\(name)"] = try await reconciler.recordSilentPurchases()
        }
        return reports
    }
}
