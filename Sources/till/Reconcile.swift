import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import Proofs
import Service

struct Reconcile: LedgerUser {
    static let configuration = CommandConfiguration(
        "reconcile", "Ask the App Store for missed notifications and purchases, and apply them.",
        """
        Applies the notifications since the last run. With --customers, it also applies the whole history of each user who \
        has redeemed a purchase, or for whom an import expects one. Known statements change nothing. `till serve` does the \
        same if it has such a key.
        """,
        examples: """
            till reconcile --key AuthKey_ABC1234567.p8 --key-id ABC1234567 \\
              --issuer-id 57246542-96fe-1a63-e053-0824d011072a \\
              --accept apple/Production
            """)

    @Option(help: ArgumentHelp("The key's .p8 file, from App Store Connect.", valueName: "file"))
    var key: String

    @Option(help: ArgumentHelp("The key's identifier.", valueName: "identifier"))
    var keyId: String

    @Option(help: ArgumentHelp("The issuer's identifier.", valueName: "uuid"))
    var issuerId: String

    @Option(
        help: ArgumentHelp(
            "The accepted origin, as for till serve. It selects the App Store's environment.", valueName: "origin"))
    var accept = Origin.localSandbox

    @Option(help: ArgumentHelp("The address of the App Store Server API (default: Apple's).", valueName: "url"))
    var url: ServerAddress?

    @Option(
        help: ArgumentHelp(
            "The days of notifications: up to 180, in the sandbox up to 30 (default: all since the last run).",
            valueName: "n"))
    var days: Int64?

    @Flag(help: "Apply the whole history of every customer, too.")
    var customers = false

    @OptionGroup var ledger: LedgerOptions

    @Option(
        name: .customLong("sandbox-users"),
        help: ArgumentHelp(
            "From a sandbox, grant only this user's purchases, as the service does: NAME, or \"ISSUER NAME\"; may be "
                + "repeated.", valueName: "user"))
    var sandboxUsers: [String] = []

    /// The origins of each user: with --sandbox-users, those of a service that sells.
    private func accepted() throws -> AcceptedOrigins {
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
            url != nil || accept.appStoreServerURL != nil,
            "Apple's API serves only apple/Production and apple/Sandbox. Name another address with --url.")
        try require(
            url?.isConfidential ?? true, "--url must be an https address; http is allowed only for this machine.")
    }

    func perform() async throws {
        guard let url = url?.url ?? accept.appStoreServerURL else { return }
        let accepted = try accepted()
        let catalog = try Catalog(folder: common.dataDirectory.catalogFolder)
        let clock = SystemClock()
        let ledger = try ledger.place().open()
        let administration = try await CatalogService(apps: Apps(App(catalog)), ledger: ledger, clock: clock)
        let service = EntitlementService(
            apps: administration.apps,
            verifier: try ProofVerifier(trusting: common.dataDirectory.trustedFolders, clock: clock),
            ledger: ledger, clock: clock,
            accepted: accepted)
        let key = try AppStoreServerKey(
            AppStoreKeySettings(file: key, keyIdentifier: keyId, issuerIdentifier: issuerId),
            bundleIdentifier: catalog.bundleIdentifier)
        let reconciler = service.reconciler(
            of: administration.apps.first, asking: key.client(at: url, clock: clock), about: [accept])
        var reports = ["notifications": try await reconciler.recordNotifications(days: days)]
        if customers { reports["transactions"] = try await reconciler.recordHistories() }
        for (name, report) in reports.sorted(by: { $0.key < $1.key }) {
            let counts = report.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            terminal.line("\(name): \(counts.isEmpty ? "none" : counts.joined(separator: ", "))")
        }
        try terminal.json(reports.mapValues(\.outcomes))
    }
}
