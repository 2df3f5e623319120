import Catalog
import Console
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// The checks of `till doctor`. They write nothing.
struct Examination {
    let configuration: ServeConfiguration
    let data: DataDirectory
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
        data = DataDirectory(path: configuration.dataPath, catalogPath: configuration.localCatalogPath)
        commits = [data.ledgerFile.path, data.ledgerFile.path + "-wal"].compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
        // After the times that it is compared with.
        now = SystemClock().now()
    }

    func findings() async -> [HealthCheck] {
        let keys = await apiKeys()
        let ledger = await service == nil ? ledger : answeringLedger()
        return await onAnotherThread {
            [settings, directory] + permissions + roots + [
                catalog, ledger, keys.finding, clock(newestKey: keys.newest),
            ]
                // The running service has the port.
                + (service == nil ? [port] : []) + certificate + [notifications]
        }
    }

    /// Reads files without blocking the threads that serve requests.
    private func onAnotherThread(_ findings: @escaping @Sendable () -> [HealthCheck]) async -> [HealthCheck] {
        (try? await BlockingWork.run(findings)) ?? findings()
    }

    /// The ledger of the running service. A check of every rule takes long, so it is left to the command line.
    private func answeringLedger() async -> HealthCheck {
        do {
            try await service?.ledger.ping()
            return .passed(
                .ledger,
                Phrase(
                    "answers; `till ledger check` checks every rule while the service runs",
                    "응답합니다. 서비스가 실행 중일 때도 `till ledger check`로 모든 규칙을 검사할 수 있습니다"))
        } catch {
            return .problem(.ledger, message(error))
        }
    }

    private var settings: HealthCheck {
        let unknown = ServeSettings.unknownVariables(ProcessInfo.processInfo.environment)
        guard unknown.isEmpty else { return .note(.settings, Phrase(same: unknown.joined(separator: " "))) }
        let given = configuration.settings.effective.count { $0.source != nil }
        return .passed(
            .settings,
            Phrase(
                "\(given) set, \(configuration.settings.effective.count - given) by default",
                "설정함 \(given)개, 기본값 \(configuration.settings.effective.count - given)개"))
    }

    private var directory: HealthCheck {
        let path = data.folder.path
        do {
            guard try FileAccess(data.folder).exists() else {
                return .note(
                    .dataDirectory,
                    Phrase(
                        "\"\(path)\" does not exist yet; till serve creates it",
                        "\"\(path)\"이(가) 아직 없습니다. till serve가 만듭니다"))
            }
            try FileAccess(data.folder).requireWriting()
            return .passed(.dataDirectory, Phrase(same: "\"\(path)\""))
        } catch {
            return .problem(.dataDirectory, Phrase(same: error.message))
        }
    }

    private var catalog: HealthCheck {
        do {
            let apps = try configuration.apps()
            let phrases = apps.all.map { Self.phrase(for: $0.catalog) }
            return .passed(
                .catalog,
                Phrase(
                    phrases.map(\.english).joined(separator: "; "), phrases.map(\.korean).joined(separator: "; ")))
        } catch {
            return .problem(
                .catalog, message(error),
                remedy: Phrase(
                    "Correct the files; Documentation/Catalog.md describes them.",
                    "파일을 고치세요. Documentation/Catalog.md에 설명이 있습니다."))
        }
    }

    private static func phrase(for catalog: Catalog) -> Phrase {
        let (name, count) = (catalog.bundleIdentifier, catalog.products.count)
        let (rights, offerings) = (catalog.rights.count, catalog.offerings.count)
        guard rights + offerings > 0 else {
            return Phrase("\(name) sells \(count) products", "\(name): 상품 \(count)개")
        }
        return Phrase(
            "\(name) sells \(count) products (rights: \(rights), offerings: \(offerings))",
            "\(name): 상품 \(count)개(권한 \(rights)개, 상품 묶음 \(offerings)개)")
    }

    private var ledger: HealthCheck {
        let place = LedgerPlace(configuration.ledger, in: data)
        if case .file(let file) = place, (try? FileAccess(file).exists()) == false {
            return .note(
                .ledger,
                Phrase(
                    "\"\(file.path)\" does not exist yet; till serve creates it",
                    "\"\(file.path)\"이(가) 아직 없습니다. till serve가 만듭니다"))
        }
        do {
            let report = try place.check()
            guard report.problems.isEmpty else {
                return .problem(
                    .ledger, Phrase(same: report.problems.joined(separator: " ")),
                    remedy: Phrase(
                        "Stop the service, keep a copy of the ledger, and restore a backup: till ledger restore.",
                        "서비스를 멈추고 원장을 복사해 둔 다음 백업을 복원하세요: till ledger restore."))
            }
            return .passed(
                .ledger, Phrase("sound; users: \(report.users)", "이상 없음. 사용자 \(report.users)명"))
        } catch {
            return .problem(.ledger, message(error))
        }
    }

    private func apiKeys() async -> (finding: HealthCheck, newest: Timestamp?) {
        let command = common.hint("keys", "make", "NAME", options: configuration.options(beside: common))
        let remedy = Phrase("Make one: \(command)", "키를 만드세요: \(command)")
        // Apps call with tokens and need no key.
        let isOptional = configuration.tokens != nil || configuration.hasAccounts
        let detail = Phrase("none is valid, so no back end can call", "유효한 키가 없어 백엔드가 호출할 수 없습니다")
        let none =
            isOptional ? HealthCheck.note(.apiKeys, detail, remedy: remedy) : .problem(.apiKeys, detail, remedy: remedy)
        let place = LedgerPlace(configuration.ledger, in: data)
        if service == nil, case .file(let file) = place, (try? FileAccess(file).exists()) != true {
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
            return (
                .passed(
                    .apiKeys,
                    Phrase(
                        "\(valid) valid, \(revoked) revoked, \(expired) expired",
                        "유효 \(valid)개, 취소 \(revoked)개, 만료 \(expired)개")),
                newest
            )
        } catch {
            return (
                .problem(
                    .apiKeys,
                    Phrase(
                        "they cannot be read: \(message(error).english)", "읽을 수 없습니다: \(message(error).korean)")),
                nil
            )
        }
    }

    /// Compares the clock with the newest moments that were recorded on this machine.
    private func clock(newestKey: Timestamp?) -> HealthCheck {
        let moments =
            commits.map { Timestamp(secondsSince1970: Int64($0.timeIntervalSince1970)) }
            + [newestKey].compactMap(\.self)
        guard let newest = moments.max(), newest > now else {
            return .passed(
                .clock,
                Phrase(
                    "\(now.rfc3339), after the newest recorded moment",
                    "\(now.rfc3339), 기록된 가장 최근 시각 이후입니다"))
        }
        return .problem(
            .clock,
            Phrase(
                "\(now.rfc3339) is before \(newest.rfc3339), the newest recorded moment",
                "\(now.rfc3339)은(는) 기록된 가장 최근 시각 \(newest.rfc3339)보다 이릅니다"),
            remedy: Phrase(
                "Set the system's clock, and keep it with NTP: proofs from the future are refused.",
                "시스템 시계를 맞추고 NTP로 유지하세요. 미래의 증명은 거절됩니다."))
    }

    /// The sentence of an error, which is English.
    func message(_ error: any Error) -> Phrase {
        Phrase(same: (error as? any CodedError)?.message ?? "\(error)")
    }
}
