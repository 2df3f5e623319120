import Foundation
import Proofs

/// The result of a check of the installation, for `till doctor` and the console.
package struct HealthCheck: Sendable {
    /// The outcome of a check, by its name in the output of `till doctor`.
    package enum State: String, Encodable, Sendable {
        case passed = "ok"
        /// A remark, with an optional action.
        case note
        case problem
    }

    /// The subject of a check, by its name in the output of `till doctor`.
    package enum Subject: String, Encodable, CaseIterable, Sendable {
        case settings
        case dataDirectory = "data directory"
        case permissions
        case trustedRoots = "trusted roots"
        case trustedRoot = "trusted root"
        case catalog
        case ledger
        case apiKeys = "API keys"
        case clock
        case port
        case tlsCertificate = "TLS certificate"
        case notifications
        case forwardedNotifications = "forwarded notifications"
        case googlePlay = "Google Play"
        case deadlines
    }

    package let subject: Subject
    package let state: State
    package let detail: Phrase
    /// The next step; nil if none is needed.
    package let remedy: Phrase?

    package static func passed(_ subject: Subject, _ detail: Phrase) -> HealthCheck {
        HealthCheck(subject: subject, state: .passed, detail: detail, remedy: nil)
    }

    package static func note(_ subject: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> HealthCheck {
        HealthCheck(subject: subject, state: .note, detail: detail, remedy: remedy)
    }

    package static func problem(_ subject: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> HealthCheck {
        HealthCheck(subject: subject, state: .problem, detail: detail, remedy: remedy)
    }
}

/// A certificate of the installation, its use and its file.
package typealias HealthCertificate = (use: CertificateUse, certificate: Certificate, file: URL)

package enum CertificateUse: Sendable {
    /// A root that ends the chains of proofs, of Apple or of another store.
    case trustedRoot(Realm)
    /// The certificate that the service presents to clients.
    case tls
}

package enum CertificateState: Sendable {
    case notYetValid
    case valid
    /// Valid for less than 30 days more.
    case endsSoon
    case expired
}

extension Certificate {
    /// The time before the end of a certificate in which it is reported, in days.
    private static let warningDays: Int64 = 30

    package var validFrom: Timestamp { Timestamp(secondsSince1970: notBefore) }
    package var validUntil: Timestamp { Timestamp(secondsSince1970: notAfter) }

    package func state(at moment: Timestamp) -> CertificateState {
        if moment < validFrom { return .notYetValid }
        if moment > validUntil { return .expired }
        return moment > validUntil.adding(days: -Self.warningDays) ? .endsSoon : .valid
    }
}

/// The state of the installation and of the running service, for the pages of its health. The command line supplies it.
package protocol HealthSource: Sendable {
    /// Runs the checks of `till doctor` that suit a running service. This takes some milliseconds, and blocks no request.
    func checks() async -> [HealthCheck]
    /// The trusted roots and the TLS certificate. An unreadable file is a problem of the checks.
    func certificates() async -> [HealthCertificate]
    /// The file of the ledger, or the address of its database without the password.
    var ledgerPlace: String { get }
    /// The settings without secrets, in the order of the documentation. The source is the option, the variable or the line of
    /// the file; nil for the default.
    var settings: [(name: String, value: String, source: String?)] { get }
    /// The names and versions of Till and of the parts that it was built with.
    var versions: [(name: String, version: String)] { get }
    /// The remarks that the service printed at its start, in English.
    var startNotes: [String] { get }
}
