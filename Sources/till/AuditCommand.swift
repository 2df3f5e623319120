import ArgumentParser
import Ledger
import Proofs

/// `till audit`
struct AuditCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List the audit log of a user, oldest entry first. The service may run.",
        discussion: """
            Each entry has a digest over the entry before it. If an entry was changed or removed, the exit status is 1. Store \
            the head, which is printed last, in another place: with it you can prove later that no earlier entry was changed.

            Examples:
              till audit alice
              till audit 248289761001 --issuer https://accounts.example.com
            """)

    @Argument(help: "The user.")
    var user: User

    @Option(help: "The issuer of the tokens that name the user (default: the back end names the user).")
    var issuer: String?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws { try IssuerOption.validate(issuer) }

    func perform() async throws {
        let ledger = try ledger.place().open(migrates: false)
        guard let user = User(issuer: issuer ?? "", name: user.name) else { return }
        var reports: [AuditReport] = []
        let keys = try await ledger.apiKeyNames()
        var last: AuditRecord?
        var brokenAt: Int64?
        while true {
            let number = last?.number ?? 0
            let page = try await ledger.read { try $0.audit(of: user, after: number, limit: 1000) }
            if page.isEmpty { break }
            for record in page {
                if brokenAt == nil, !record.follows(last) { brokenAt = record.number }
                last = record
                reports.append(AuditReport(record, naming: keys))
            }
        }
        if reports.isEmpty {
            terminal.line("No audit entries for user \"\(user)\".")
        } else {
            terminal.table(
                ["NO", "TIME", "EVENT", "BY", "WHAT", "REFERENCE", "ORIGIN", "REASON"],
                reports.map {
                    [
                        String($0.number), $0.time, $0.event, $0.actorText, $0.subject, $0.reference, $0.origin ?? "-",
                        $0.reason ?? "-",
                    ]
                })
        }
        if let brokenAt {
            terminal.line("broken: record \(brokenAt) or an earlier one was changed or removed")
        } else if let last {
            terminal.line("unbroken; head \(last.number) \(last.digest.hexadecimal)")
        }
        try terminal.json(AuditLogReport(isUnbroken: brokenAt == nil, records: reports))
        guard brokenAt == nil else { throw ExitCode(1) }
    }
}

private struct AuditLogReport: Encodable {
    let isUnbroken: Bool
    let records: [AuditReport]
}

/// A record of an audit log in the output of commands.
private struct AuditReport: Encodable {
    let number: Int64
    /// RFC 3339, UTC.
    let time: String
    let event: String
    let actor: String
    /// The name of the API key; nil for another actor, and if the ledger does not have the key.
    let actorName: String?
    let subject: String
    let reference: String
    let origin: String?
    let reason: String?
    let digest: String

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ record: AuditRecord, naming keys: [String: String]) {
        number = record.number
        time = record.entry.happenedAt.rfc3339
        event = record.entry.event.rawValue
        actor = record.entry.actor.description
        actorName = record.entry.actor.keyIdentifier.flatMap { keys[$0] }
        subject = record.entry.subject
        reference = record.entry.reference
        origin = record.entry.origin?.rawValue
        reason = record.entry.reason
        digest = record.digest.hexadecimal
    }

    /// The actor in text, an API key by its name.
    var actorText: String { actorName.map { "key \"\($0)\"" } ?? actor }
}
