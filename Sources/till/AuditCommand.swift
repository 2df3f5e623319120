import ArgumentParser
import Ledger
import Proofs

struct AuditCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "audit", "List the audit log of a user, oldest entry first. The service may run.",
        """
        Each entry has a digest over the entry before it. If an entry was changed or removed, the exit status is 1. Store \
        the head, which is printed last, in another place: with it you can prove later that no earlier entry was changed.
        """,
        examples: """
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
        var records: [AuditRecord] = []
        let keys = try await ledger.apiKeyNames()
        var brokenAt: Int64?
        while true {
            let number = records.last?.number ?? 0
            let page = try await ledger.read { try $0.audit(of: user, after: number, limit: 1000) }
            if page.isEmpty { break }
            for record in page {
                if brokenAt == nil, !record.follows(records.last) { brokenAt = record.number }
                records.append(record)
            }
        }
        terminal.table(
            ["NO", "TIME", "EVENT", "BY", "WHAT", "REFERENCE", "ORIGIN", "REASON"],
            records.map { record in
                let (entry, name) = (record.entry, record.keyName(keys))
                return [
                    String(record.number), entry.happenedAt.rfc3339, entry.event.rawValue,
                    name.map { "key \"\($0)\"" } ?? entry.actor.description, entry.subject, entry.reference,
                    entry.origin?.rawValue, entry.reason,
                ]
            }, orElse: "No audit entries for user \"\(user)\".")
        if let brokenAt {
            terminal.line("broken: record \(brokenAt) or an earlier one was changed or removed")
        } else if let last = records.last {
            terminal.line("unbroken; head \(last.number) \(last.digest.hexadecimal)")
        }
        try terminal.report(["isUnbroken": brokenAt == nil, "records": records.map { $0.report(naming: keys) }])
        guard brokenAt == nil else { throw ExitCode(1) }
    }
}

extension AuditRecord {
    /// The name of the actor's API key; nil for another actor, and if the ledger does not have the key.
    ///
    /// - Parameter names: The names of API keys by their identifiers.
    fileprivate func keyName(_ names: [String: String]) -> String? { entry.actor.keyIdentifier.flatMap { names[$0] } }

    /// The record in the output of commands.
    fileprivate func report(naming names: [String: String]) -> Report {
        [
            "number": number, "time": entry.happenedAt.rfc3339, "event": entry.event.rawValue,
            "actor": entry.actor.description, "actorName": keyName(names), "subject": entry.subject,
            "reference": entry.reference, "origin": entry.origin?.rawValue, "reason": entry.reason,
            "digest": digest.hexadecimal,
        ]
    }
}
