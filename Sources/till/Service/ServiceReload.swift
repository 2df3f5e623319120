import Catalog
import Features
import Foundation
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle
import UnixSignals

/// The parts of a running service that it reads anew after SIGHUP: the TLS certificate, the trusted roots with the keys of apps, and
/// the catalogs.
///
/// A part that does not load stays as it is. Other settings need a restart.
struct ServiceReload: Sendable {
    let configuration: ServeConfiguration
    let certificate: ServerCertificate?
    let verifier: ProofVerifier
    let appKeys: KnownAppKeys
    let catalog: CatalogService
    let metrics: ServiceMetrics

    private var logger: Logger { configuration.logger }

    /// The task that reads the parts anew after each signal.
    ///
    /// A terminal that closes sends the signal, too. It ends the service, which would otherwise go on without anybody who sees it.
    func companion(after signals: UnixSignalsSequence) -> Companion {
        let hasTerminal = Self.hasTerminal
        return Companion {
            for await _ in signals.cancelOnGracefulShutdown() {
                if hasTerminal, !Self.hasTerminal {
                    kill(getpid(), SIGTERM)
                } else {
                    await reload()
                }
            }
        }
    }

    /// True if the process has a terminal that is not closed.
    private static var hasTerminal: Bool { [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 } }

    private func reload() async {
        var isComplete = true
        if let certificate {
            isComplete = await reload("tls-certificate") {
                try await BlockingWork.run { try certificate.reload() }
                return ["until": "\(certificate.endsAt?.rfc3339 ?? "unknown")"]
            }
        }
        isComplete = await reload("roots") { try await BlockingWork.run { try reloadRoots() } } && isComplete
        isComplete = await reload("catalog") { try await reloadCatalogs() } && isComplete
        metrics.recordReload(isComplete: isComplete)
    }

    /// - Parameter load: Reads the part. Returns metadata for the log.
    /// - Returns: False if the part stays as it is.
    private func reload(_ part: String, _ load: () async throws -> Logger.Metadata) async -> Bool {
        do {
            let metadata = try await load()
            logger.notice("reloaded", metadata: metadata.merging(["part": "\(part)"]) { $1 })
            return true
        } catch {
            let reason = (error as? any CodedError)?.message ?? Problem.code(of: error)
            logger.error(
                "not reloaded, so the earlier state stays", metadata: ["part": "\(part)", "reason": "\(reason)"])
            return false
        }
    }

    private func reloadRoots() throws -> Logger.Metadata {
        let folders = try configuration.data.trustedFolders
        let anchors = try TrustAnchors(folders: folders)
        try appKeys.reload(folders: folders) { try configuration.check(anchors, $0) }
        verifier.replaceRoots(with: anchors)
        return ["roots": "\(anchors.anchors.count)", "appKeys": "\(appKeys.keys.count)"]
    }

    private func reloadCatalogs() async throws -> Logger.Metadata {
        let files = try await BlockingWork.run { try configuration.apps().all.map(\.files) }
        try await catalog.reload(files)
        return ["products": "\(catalog.apps.all.map(\.catalog.products.count).reduce(0, +))"]
    }
}
