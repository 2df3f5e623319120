import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// The notes at the start of the service.
extension Serve {
    /// The notes about settings that the operator may have forgotten.
    func notesAboutMissingSettings(
        _ keys: APIKeys,
        _ ledger: Ledger,
        _ configuration: ServeConfiguration
    ) async throws -> [String] {
        var notes: [String] = []
        if try await keys.validKeys().isEmpty {
            notes.append(
                "There is no valid API key, so no back end can call. Make one with "
                    + common.hint("keys", "make", "NAME", options: configuration.options(beside: common)) + ".")
        }
        if try await !ledger.read(.snapshot, { try $0.ordersTextByBytes() }) {
            notes.append(
                "The database does not order text by bytes, so searches by the beginning of a name may miss users. Export the "
                    + "ledger, create a database with the locale C, and import it there: `till ledger export`, "
                    + "`createdb --template template0 --encoding UTF8 --locale C`, `till ledger import`.")
        }
        let bare = configuration.sandboxUsers.filter { $0.issuer.isEmpty }.map(\.name).sorted()
        if !bare.isEmpty, configuration.tokens != nil || configuration.hasAccounts {
            notes.append(
                "sandbox-users names users of the back end: \(bare.joined(separator: ", ")). For the user of a token or an "
                    + "account, write \"ISSUER NAME\".")
        }
        if !configuration.hasWebhooks, try await !ledger.read(.snapshot, { try $0.webhookEndpoints() }).isEmpty {
            notes.append(
                "The ledger has webhooks, but the service sends them nothing. Start it with --webhooks to use or remove them."
            )
        }
        return notes
    }
}
