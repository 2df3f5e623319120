import ArgumentParser
import Commerce
import Ledger
import Signatures

/// `till audit`
struct AuditCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Tell what happened to what a user owns, from the first day on; also while the service runs.",
        discussion: """
            Each line is bound to the one before it: the exit status is 1 where one was changed or taken out. Keep the head \
            that is printed last somewhere else, and you can tell later that nothing before it was changed.

            Examples:
              till audit alice
              till audit 248289761001 --issuer https://accounts.example.com
            """)

    @Argument(help: "The user.")
    var user: User

    @Option(help: "Who issues the tokens in which the user has this name, where it is not your back end that gives it.")
    var issuer: String?

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let ledger = try ledger.place(common).open(takesOver: false)
        guard let user = User(issuer: issuer ?? "", name: user.name) else { return }
        var table = TextTable(header: ["NO", "TIME", "EVENT", "BY", "WHAT", "REFERENCE", "ORIGIN", "REASON"])
        var reports: [AuditReport] = []
        var last: AuditRecord?
        var brokenAt: Int64?
        while true {
            let number = last?.number ?? 0
            let page = try await ledger.read { try $0.audit(of: user, after: number, limit: 1000) }
            if page.isEmpty { break }
            for record in page {
                if brokenAt == nil, !record.follows(last) { brokenAt = record.number }
                last = record
                let report = AuditReport(record)
                reports.append(report)
                table.add([
                    String(report.number), report.time, report.event, report.actor, report.subject, report.reference,
                    report.origin ?? "-", report.reason ?? "-",
                ])
            }
        }
        if reports.isEmpty {
            console.line("Nothing has happened yet to what \(user) owns.")
        } else {
            table.lines.forEach(console.line)
        }
        if let brokenAt {
            console.line("broken: record \(brokenAt), or one before it, is not what was written")
        } else if let last {
            console.line("unbroken; head \(last.number) \(last.digest.hexadecimal)")
        }
        try console.json(AuditLogReport(isUnbroken: brokenAt == nil, records: reports))
        guard brokenAt == nil else { throw ExitCode(1) }
    }
}

private struct AuditLogReport: Encodable {
    let isUnbroken: Bool
    let records: [AuditReport]
}

/// A record of an audit log as commands show it.
private struct AuditReport: Encodable {
    let number: Int64
    /// RFC 3339, UTC.
    let time: String
    let event: String
    let actor: String
    let subject: String
    let reference: String
    let origin: String?
    let reason: String?
    let digest: String

    init(_ record: AuditRecord) {
        number = record.number
        time = record.entry.happenedAt.rfc3339
        event = record.entry.event.rawValue
        actor = record.entry.actor.description
        subject = record.entry.subject
        reference = record.entry.reference
        origin = record.entry.origin?.rawValue
        reason = record.entry.reason
        digest = record.digest.hexadecimal
    }
}
