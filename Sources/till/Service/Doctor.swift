import ArgumentParser
import Catalog
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

struct Doctor: Command {
    static let configuration = CommandConfiguration(
        "doctor", "Check an installation, and name the remedy of each problem.",
        """
        Takes the settings of till serve; --help-all shows them all. It changes no data,
        and works while the service runs. Exit status: 0 if all checks pass, 1 otherwise.
        """,
        examples: """
            till doctor
            till doctor --config till.json --json
            """)

    @OptionGroup var options: ServeOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let findings = await findings()
        for finding in findings {
            let status = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            terminal.line("\(status)  \(finding.subject.rawValue): \(finding.detail.english)")
            if let remedy = finding.remedy { terminal.line("         \(remedy.english)") }
        }
        let reports: [Report] = findings.map {
            [
                "check": $0.subject, "status": $0.state, "detail": $0.detail.english, "remedy": $0.remedy?.english,
            ]
        }
        try terminal.json(["findings": reports])
        let problems = findings.count { $0.state == .problem }
        terminal.line(problems == 0 ? "No problems." : "Problems: \(problems).")
        if problems > 0 { throw ExitCode(1) }
    }

    private func findings() async -> [HealthCheck] {
        do {
            return await Examination(try ServeConfiguration(options, common), common: common).findings()
        } catch let error as any CodedError {
            return [.problem(.settings, Phrase(same: error.message))]
        } catch {
            return [.problem(.settings, Phrase(same: "\(error)"))]
        }
    }
}

/// The checks of `till doctor`. They write nothing.
struct Examination {
    let configuration: ServeConfiguration
    var data: DataDirectory { configuration.data }
    let now: Timestamp
    private let common: CommonOptions
    /// The running service that checks itself; nil for another process.
    private let service: RunningService?
    /// The modification times of the ledger's files before a check opens them.
    private let commits: [Date]

    /// - Parameter service: The running service that checks itself; nil for another process.
    init(_ configuration: ServeConfiguration, common: CommonOptions, service: RunningService? = nil) {
        self.configuration = configuration
        self.common = common
        self.service = service
        let ledger = configuration.data.ledgerFile.path
        commits = [ledger, ledger + "-wal"].compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
        // After the times that it is compared with.
        now = SystemClock().now()
    }

    func findings() async -> [HealthCheck] {
        let keys = await apiKeys()
        let ledger = await service == nil ? finding(.ledger, ledger) : answeringLedger()
        let (deadlines, forwarding) = (await deadlines(), await forwarding())
        let catalogRemedy: Phrase = "Correct the files; Documentation/Catalog.md describes them."
        return await onAnotherThread {
            [settings, finding(.dataDirectory, directory)] + permissions + roots + [
                finding(.catalog, remedy: catalogRemedy, catalog), ledger, keys.finding,
                clock(newestKey: keys.newest),
            ]
                // The running service has the port.
                + (service == nil ? [port] : []) + certificate + [notifications] + googlePlay + deadlines + forwarding
        }
    }

    /// Reads files without blocking the threads that serve requests.
    private func onAnotherThread(_ findings: @escaping @Sendable () -> [HealthCheck]) async -> [HealthCheck] {
        (try? await BlockingWork.run(findings)) ?? findings()
    }

    /// The ledger of the running service. A check of every rule takes long, so it is left to the command line.
    private func answeringLedger() async -> HealthCheck {
        do {
            try await service?.till.ledger.ping()
            return .passed(.ledger, "answers; `till ledger check` checks every rule while the service runs")
        } catch {
            return .problem(.ledger, message(error))
        }
    }

    /// The duties with a deadline: those that were missed, and those that are due next.
    private func deadlines() async -> [HealthCheck] {
        let duties = service?.duties ?? configuration.duties
        let place = configuration.ledgerPlace
        if duties.isEmpty { return [] }
        if service == nil, case .file(let file) = place, (try? file.exists()) != true { return [] }
        do {
            guard let service else {
                let (ledger, moment) = (try place.open(migrates: false), now)
                return Self.checks(try await ledger.read(.snapshot) { try $0.openDuties(duties, at: moment) })
            }
            return Self.checks(try await service.till.entitlements.openDuties(duties))
        } catch {
            return [.problem(.deadlines, message(error))]
        }
    }

    /// Nothing is said of external purchases, which few apps have, until there is one.
    private static func checks(_ duties: OpenDuties) -> [HealthCheck] {
        let isOfFew = duties.isEmpty && duties.counts.keys.allSatisfy { $0 == .externalPurchase }
        return isOfFew ? [] : [check(duties)]
    }

    private static func check(_ duties: OpenDuties) -> HealthCheck {
        let remedy = Phrase(
            "Check the key or the service account of the store, and search the log for the purchase; /metrics has till_duties_missed."
        )
        if let last = duties.missed.first {
            return .problem(
                .deadlines,
                "missed in \(OpenDuties.shownDays) days: \(duties.missedCount), the last one at \(last.deadline.rfc3339): `\(last.kind.rawValue)` of \(last.subject)",
                remedy: remedy)
        }
        guard let next = duties.due.first else { return .passed(.deadlines, "nothing is due") }
        let (count, moment) = (duties.dueCount, next.deadline.rfc3339)
        let detail: Phrase = "due: \(count), the first one by \(moment): `\(next.kind.rawValue)` of \(next.subject)"
        return duties.isUrgent ? .note(.deadlines, detail, remedy: remedy) : .passed(.deadlines, detail)
    }

    /// The servers to which the running service forwards notifications.
    private func forwarding() async -> [HealthCheck] {
        guard let forwarding = service?.till.forwarding else { return [] }
        do {
            return try await forwarding.waiting().map { waiting in
                let host = waiting.target.host
                guard let since = waiting.since else { return .passed(.forwardedNotifications, "\(host): none waits") }
                let count = waiting.count
                guard let outcome = waiting.lastOutcome else {
                    return .passed(.forwardedNotifications, "\(host): waiting: \(count)")
                }
                return .problem(
                    .forwardedNotifications,
                    "\(host): waiting: \(count), the next one since \(since.rfc3339); last attempt: \(outcome)",
                    remedy: "Check the server, and its address in forward-notifications.")
            }
        } catch {
            return [.problem(.forwardedNotifications, message(error))]
        }
    }

    private var settings: HealthCheck {
        let unknown = ServeSettings.unknownVariables(ProcessInfo.processInfo.environment)
        guard unknown.isEmpty else { return .note(.settings, Phrase(same: unknown.joined(separator: " "))) }
        let given = configuration.settings.effective.count { $0.source != nil }
        return .passed(.settings, "\(given) set, \(configuration.settings.effective.count - given) by default")
    }

    /// The finding of a check. Its error is a problem.
    private func finding(
        _ subject: HealthCheck.Subject, remedy: Phrase? = nil, _ check: () throws -> HealthCheck
    ) -> HealthCheck {
        do { return try check() } catch { return .problem(subject, message(error), remedy: remedy) }
    }

    private func directory() throws -> HealthCheck {
        let path = data.folder.path
        guard try data.folder.exists() else {
            return .note(.dataDirectory, "\"\(path)\" does not exist yet; till serve creates it")
        }
        try data.folder.requireWriting()
        return .passed(.dataDirectory, Phrase(same: "\"\(path)\""))
    }

    private func catalog() throws -> HealthCheck {
        let phrases = try configuration.apps().all.map { Self.phrase(for: $0.catalog) }
        return .passed(.catalog, .joined(phrases, separator: "; "))
    }

    private static func phrase(for catalog: Catalog) -> Phrase {
        let (name, count) = (catalog.bundleIdentifier, catalog.products.count)
        let (rights, offerings) = (catalog.rights.count, catalog.offerings.count)
        guard rights + offerings > 0 else { return "\(name) sells \(count) products" }
        return "\(name) sells \(count) products (rights: \(rights), offerings: \(offerings))"
    }

    private func ledger() throws -> HealthCheck {
        let place = configuration.ledgerPlace
        if case .file(let file) = place, (try? file.exists()) == false {
            return .note(.ledger, "\"\(file.path)\" does not exist yet; till serve creates it")
        }
        let report = try place.check()
        guard report.problems.isEmpty else {
            return .problem(
                .ledger, Phrase(same: report.problems.joined(separator: " ")),
                remedy: "Stop the service, keep a copy of the ledger, and restore a backup: till ledger restore.")
        }
        let tables = report.tablesWithoutStatistics
        guard tables.isEmpty else {
            return .problem(
                .ledger, "sound, but PostgreSQL has no statistics of these tables: \(tables.joined(separator: ", "))",
                remedy: "Run ANALYZE in the database, and leave its autovacuum on.")
        }
        return .passed(.ledger, "sound; users: \(report.users)")
    }

    private func apiKeys() async -> (finding: HealthCheck, newest: Timestamp?) {
        let command = common.hint("keys", "make", "NAME", options: configuration.options(beside: common))
        let remedy = Phrase("Make one: \(command)")
        // Apps call with tokens and need no key.
        let isOptional = configuration.tokens != nil || configuration.hasAccounts
        let detail = Phrase("none is valid, so no back end can call")
        let none =
            isOptional ? HealthCheck.note(.apiKeys, detail, remedy: remedy) : .problem(.apiKeys, detail, remedy: remedy)
        let place = configuration.ledgerPlace
        if service == nil, case .file(let file) = place, (try? file.exists()) != true {
            return (none, nil)
        }
        do {
            // The public keys of apps are no way in for a back end.
            let keys = try await (service?.keys ?? place.apiKeys()).list().filter { $0.platform == nil }
            let valid = keys.count { $0.isValid(at: now) }
            let revoked = keys.count { $0.revokedAt != nil }
            let newest = keys.map(\.createdAt).max()
            guard valid > 0 else {
                return (none, newest)
            }
            let expired = keys.count - valid - revoked
            return (.passed(.apiKeys, "\(valid) valid, \(revoked) revoked, \(expired) expired"), newest)
        } catch {
            return (.problem(.apiKeys, "they cannot be read: \(message(error))"), nil)
        }
    }

    /// Compares the clock with the newest moments that were recorded on this machine.
    private func clock(newestKey: Timestamp?) -> HealthCheck {
        let moments =
            commits.map { Timestamp(secondsSince1970: Int64($0.timeIntervalSince1970)) }
            + [newestKey].compactMap(\.self)
        guard let newest = moments.max(), newest > now else {
            return .passed(.clock, "\(now.rfc3339), after the newest recorded moment")
        }
        return .problem(
            .clock,
            "\(now.rfc3339) is before \(newest.rfc3339), the newest recorded moment",
            remedy: "Set the system's clock, and keep it with NTP: proofs from the future are refused.")
    }

    /// The sentence of an error, which is English.
    func message(_ error: any Error) -> Phrase {
        Phrase(same: (error as? any CodedError)?.message ?? "\(error)")
    }

    /// The files and folders that the service relies on, which nobody else may change, and secrets, which nobody else may read.
    var permissions: [HealthCheck] {
        let access = configuration.access
        let closed = Phrase("files closed to others: \(access.count)")
        return access.exposed.isEmpty ? [.passed(.permissions, closed)] : access.exposed.map(\.check)
    }

    /// The port that the service listens on.
    var port: HealthCheck {
        let (host, port) = (configuration.server.host, configuration.server.port)
        guard port > 0 else { return .passed(.port, "any free one") }
        let code = ListeningPort.problem(host: host, port: port)
        // The service may have a port below 1024 that this user may not even try.
        let holder = code == EADDRINUSE || code == EACCES ? ListeningProcess.find(port: port) : nil
        if let holder, holder.name == "till" {
            guard let identifier = holder.identifier else {
                return .passed(.port, "\(host):\(port) is in use by \(holder.name)")
            }
            return .passed(.port, "\(host):\(port) is in use by till, process \(identifier)")
        }
        switch code {
        case nil: return .passed(.port, "\(host):\(port) is free")
        case EADDRINUSE:
            let known = holder.flatMap { process in process.identifier.map { "\"\(process.name)\", process \($0)" } }
            let name = known ?? "another program"
            return .problem(
                .port, "\(host):\(port) is in use by \(name)", remedy: "End it, or choose another port with --port.")
        case EACCES:
            return .problem(
                .port,
                "\(host):\(port) needs a privilege that this user lacks",
                remedy: "Choose a port from 1024 on, or give the service CAP_NET_BIND_SERVICE.")
        case let code?:
            return .problem(
                .port,
                "\(host):\(port) cannot be listened on: \(String(cString: strerror(code)))",
                remedy: "Name an address of this machine with --host.")
        }
    }
}

/// The parts of the running service that the checks use instead of opening the ledger a second time.
struct RunningService {
    let till: Till
    let keys: APIKeys
    let duties: StoreDuties
}
