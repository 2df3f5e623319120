import Commerce
import Foundation
import HTTPSupport
import Ledger
import Receipts

/// The checks of `till doctor`. They write nothing.
struct Examination {
    let configuration: ServeConfiguration
    let data: DataDirectory
    let now = SystemClock().now()
    private let common: CommonOptions
    /// The modification times of the ledger's files before a check opens them.
    private let commits: [Date]

    init(_ configuration: ServeConfiguration, common: CommonOptions) {
        self.configuration = configuration
        self.common = common
        data = DataDirectory(path: configuration.dataPath, catalogPath: configuration.localCatalogPath)
        commits = [data.ledgerFile.path, data.ledgerFile.path + "-wal"].compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
    }

    func findings() async -> [Finding] {
        let keys = await apiKeys()
        return [settings] + [directory] + permissions + roots + [catalog, ledger, keys.finding]
            + [clock(newestKey: keys.newest), port] + certificate + [notifications]
    }

    private var settings: Finding {
        let unknown = ServeSettings.unknownVariables(ProcessInfo.processInfo.environment)
        guard unknown.isEmpty else { return .note("settings", unknown.joined(separator: " ")) }
        let given = configuration.settings.effective.count { $0.source != nil }
        return .passed("settings", "\(given) set, \(configuration.settings.effective.count - given) by default")
    }

    private var directory: Finding {
        let path = data.folder.path
        do {
            guard try FileAccess(data.folder).exists() else {
                return .note("data directory", "\"\(path)\" does not exist yet; till serve creates it")
            }
            try FileAccess(data.folder).requireWriting()
            return .passed("data directory", "\"\(path)\"")
        } catch {
            return .problem("data directory", error.message)
        }
    }

    private var catalog: Finding {
        do {
            let apps = try configuration.apps()
            let counts = apps.all.map { "\($0.catalog.bundleIdentifier) sells \($0.catalog.products.count) products" }
            return .passed("catalog", counts.joined(separator: "; "))
        } catch {
            return .problem(
                "catalog", message(error), remedy: "Correct the files; Documentation/Catalog.md describes them.")
        }
    }

    private var ledger: Finding {
        let place = LedgerPlace(configuration.ledger, in: data)
        if case .file(let file) = place, (try? FileAccess(file).exists()) == false {
            return .note("ledger", "\"\(file.path)\" does not exist yet; till serve creates it")
        }
        do {
            let report = try place.check()
            guard report.problems.isEmpty else {
                return .problem(
                    "ledger", report.problems.joined(separator: " "),
                    remedy: "Stop the service, keep a copy of the ledger, and restore a backup: till ledger restore.")
            }
            guard report.isOfThisVersion else {
                return .note(
                    "ledger", "sound, of an earlier version",
                    remedy: "Back it up with till ledger backup; till serve converts it at its next start.")
            }
            return .passed("ledger", "sound; users: \(report.users)")
        } catch {
            return .problem("ledger", message(error))
        }
    }

    private func apiKeys() async -> (finding: Finding, newest: Timestamp?) {
        let remedy =
            "Make one: " + common.hint("keys", "make", "NAME", options: configuration.options(beside: common))
        // Apps call with tokens and need no key.
        let isOptional = configuration.tokens != nil || configuration.hasAccounts
        let detail = "none is valid, so no back end can call"
        let none =
            isOptional ? Finding.note("API keys", detail, remedy: remedy) : .problem("API keys", detail, remedy: remedy)
        let place = LedgerPlace(configuration.ledger, in: data)
        if case .file(let file) = place, (try? FileAccess(file).exists()) != true {
            return (none, nil)
        }
        do {
            let keys = try await place.apiKeys().list()
            let valid = keys.count { $0.isValid(at: now) }
            let revoked = keys.count { $0.revokedAt != nil }
            let newest = keys.map(\.createdAt).max()
            guard valid > 0 else {
                return (none, newest)
            }
            let expired = keys.count - valid - revoked
            return (.passed("API keys", "\(valid) valid, \(revoked) revoked, \(expired) expired"), newest)
        } catch {
            return (.problem("API keys", "they cannot be read: \(message(error))"), nil)
        }
    }

    /// Compares the clock with the newest moments that were recorded on this machine.
    private func clock(newestKey: Timestamp?) -> Finding {
        let moments =
            commits.map { Timestamp(secondsSince1970: Int64($0.timeIntervalSince1970)) }
            + [newestKey].compactMap(\.self)
        guard let newest = moments.max(), newest > now else {
            return .passed("clock", "\(now.rfc3339), after the newest recorded moment")
        }
        return .problem(
            "clock", "\(now.rfc3339) is before \(newest.rfc3339), the newest recorded moment",
            remedy: "Set the system's clock, and keep it with NTP: proofs from the future are refused.")
    }

    func message(_ error: any Error) -> String { (error as? any CodedError)?.message ?? "\(error)" }
}
