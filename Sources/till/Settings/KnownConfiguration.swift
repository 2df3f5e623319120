import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import Vocabulary

/// The configuration by which a command answers over a ledger: that of its options, or else that of the service that ran last.
struct KnownConfiguration {
    let apps: Apps
    let accepted: AcceptedOrigins
    /// The moment before which a consumed purchase of Google Play is refused; nil to grant each once.
    let consumedRefusedBefore: Timestamp?
    /// The sentence about what is unknown, with the remedy; nil if all is known.
    let gap: String?
    /// The sentence about what an answer assumes instead.
    private let assumption: String?

    /// The note beside an answer; nil if all is known.
    var note: String? { gap.map { "\($0) \(assumption ?? "")" } }

    /// - Parameters:
    ///   - kept: The configuration in the ledger; nil if no service has run over it.
    ///   - accepted: The origins of the command's option; empty for those of the service.
    /// - Throws: `CatalogError`; `AppsError`; `CommandError` if the service's catalog cannot be read.
    init(_ kept: KeptConfiguration?, _ common: CommonOptions, accepting accepted: [Origin] = []) throws {
        let isCatalogKnown = kept != nil || common.namesCatalog || common.dataDirectory.keepsCatalog
        if let kept, !common.namesCatalog {
            apps = try Apps(kept.apps.map { try Self.app($0) })
        } else {
            apps = Apps(App(try common.dataDirectory.catalog()))
        }
        let known = kept?.accepted ?? AcceptedOrigins()
        self.accepted =
            accepted.isEmpty ? known : AcceptedOrigins(Set(accepted), sandboxUsers: known.sandboxUsers)
        consumedRefusedBefore = kept?.consumedRefusedBefore
        let unknown = [
            isCatalogKnown ? nil : ("catalog", "--catalog", "the catalog that comes with Till"),
            kept != nil || !accepted.isEmpty ? nil : ("accepted origins", "--accept", "purchases of local stores"),
        ].compactMap(\.self)
        func joined(_ part: KeyPath<(String, String, String), String>) -> String {
            unknown.map { $0[keyPath: part] }.joined(separator: " and ")
        }
        gap =
            unknown.isEmpty
            ? nil
            : "No service has run over this ledger, so its \(joined(\.0)) cannot be known. Set \(joined(\.1))."
        assumption = unknown.isEmpty ? nil : "This answer assumes \(joined(\.2))."
    }

    /// A configuration whose gaps matter to no answer.
    init(of apps: Apps) {
        (self.apps, accepted, consumedRefusedBefore, gap, assumption) = (apps, AcceptedOrigins(), nil, nil, nil)
    }

    private static func app(_ kept: KeptConfiguration.KeptApp) throws -> App {
        let catalog: Catalog
        do { catalog = try kept.place.catalog() } catch {
            throw unavailable(kept, "cannot be read: \(error.message)")
        }
        guard catalog.bundleIdentifier.hasSameBytes(as: kept.bundleIdentifier) else {
            throw unavailable(kept, "has another app now: \(catalog.bundleIdentifier).")
        }
        return App(catalog, appAppleIdentifier: kept.appAppleIdentifier)
    }

    private static func unavailable(_ kept: KeptConfiguration.KeptApp, _ reason: String) -> CommandError {
        CommandError(
            "catalogUnavailable",
            "The catalog of \(kept.bundleIdentifier) with which the service ran last, \"\(kept.place)\", \(reason) Name "
                + "the catalog with --catalog.")
    }
}

extension CommonOptions {
    /// True if an option or a variable names the catalog.
    var namesCatalog: Bool { catalogPath?.isEmpty == false || ProcessInfo.variable("TILL_CATALOG") != nil }
}

extension LedgerPlace {
    /// The configuration of the service that ran last over the ledger, which exists; nil if there is none.
    func keptConfiguration() async throws -> KeptConfiguration? {
        try await open(migrates: false).read(.statement) { try $0.keptConfiguration() }
    }
}

extension LedgerUser {
    /// The configuration by which the command answers. What is unknown is told.
    ///
    /// - Throws: `CatalogError`; `CommandError`; `StorageFault`.
    func knownConfiguration(of ledger: Ledger, accepting accepted: [Origin]) async throws -> KnownConfiguration {
        let kept = try await ledger.read(.statement) { try $0.keptConfiguration() }
        let known = try KnownConfiguration(kept, common, accepting: accepted)
        if let note = known.note { terminal.note(note) }
        return known
    }
}

extension ServeConfiguration {
    /// The part that the ledger keeps for commands.
    ///
    /// - Parameter apps: The apps of `apps()`.
    func kept(_ apps: Apps) -> KeptConfiguration {
        KeptConfiguration(
            apps: zip(apps.all, catalogPlaces).map { app, place in
                KeptConfiguration.KeptApp(
                    bundleIdentifier: app.bundleIdentifier, catalog: place.folder?.absoluteURL.path,
                    appAppleIdentifier: app.appAppleIdentifier)
            },
            accepted: AcceptedOrigins(origins, sandboxUsers: sandboxUsers),
            consumedRefusedBefore: consumedRefusedBefore, sendsWebhooks: hasWebhooks, allowsReset: allowsReset,
            isOfService: true)
    }
}

extension KeptConfiguration.KeptApp {
    fileprivate var place: CatalogSource {
        catalog.map { .folder(URL(filePath: $0, directoryHint: .isDirectory)) } ?? .sample
    }
}
