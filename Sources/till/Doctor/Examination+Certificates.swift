import Commerce
import Foundation
import Receipts
import Signatures

extension Examination {
    /// The time before the end of a certificate in which it is reported.
    private static let warningSeconds: Int64 = 30 * 86_400

    /// The trusted roots.
    var roots: [Finding] {
        do {
            let folders = try data.trustedFolders
            var entries: [TrustFolder.Entry] = []
            for folder in folders { entries += try TrustFolder(folder).entries() }
            guard !entries.isEmpty else {
                return [
                    .problem(
                        "trusted roots", "there are none, so every proof is refused",
                        remedy: "Add Apple's: till trust add FILE. A local store adds its own: till serve --store.")
                ]
            }
            try configuration.check(try TrustAnchors(folders: folders))
            let ending = entries.compactMap { entry in
                ends(
                    entry.anchor.certificate, check: "trusted root", name: entry.file.path,
                    remedy: "Add its successor: till trust add FILE.")
            }
            return ending + [.passed("trusted roots", "\(entries.count)")]
        } catch {
            return [.problem("trusted roots", message(error))]
        }
    }

    /// The certificate of the server; nothing without TLS.
    var certificate: [Finding] {
        guard let tls = configuration.server.tls else { return [] }
        let path = tls.certificate.path
        do {
            _ = try tls.configuration()
        } catch {
            return [.problem("TLS certificate", error.message)]
        }
        guard let certificate = Self.firstCertificate(in: tls.certificate) else {
            return [.problem("TLS certificate", "\"\(path)\" has no certificate in PEM")]
        }
        let until = Timestamp(secondsSince1970: certificate.notAfter).rfc3339
        let ending = ends(
            certificate, check: "TLS certificate", name: path, remedy: "Renew it, then restart the service.")
        return [ending ?? .passed("TLS certificate", "\"\(path)\" is valid until \(until)")]
    }

    /// A finding about a certificate that is not valid, or not for long; nil for another.
    private func ends(_ certificate: Certificate, check: String, name: String, remedy: String) -> Finding? {
        let (from, until) = (certificate.notBefore, certificate.notAfter)
        if now.secondsSince1970 < from {
            return .problem(
                check, "\"\(name)\" is not valid before \(Timestamp(secondsSince1970: from).rfc3339)", remedy: remedy)
        }
        guard now.secondsSince1970 > until - Self.warningSeconds else { return nil }
        let day = Timestamp(secondsSince1970: until).rfc3339
        return now.secondsSince1970 > until
            ? .problem(check, "\"\(name)\" expired on \(day)", remedy: remedy)
            : .problem(check, "\"\(name)\" expires on \(day)", remedy: remedy)
    }

    private static func firstCertificate(in file: URL) -> Certificate? {
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let start = text.firstRange(of: "-----BEGIN CERTIFICATE-----")?.upperBound,
            let end = text[start...].firstRange(of: "-----END CERTIFICATE-----")?.lowerBound,
            let der = Data(base64Encoded: String(text[start..<end]), options: .ignoreUnknownCharacters)
        else { return nil }
        return Certificate(der: [UInt8](der))
    }

    /// The address to which the App Store sends notifications.
    var notifications: Finding {
        guard configuration.origins.contains(where: { $0 == .appleProduction || $0 == .appleSandbox }) else {
            return .passed("notifications", "none from Apple, whose origins are not accepted")
        }
        let address =
            "Register https://HOST/v1/notifications/apple in App Store Connect, with the public name of this service"
        guard configuration.appStore != nil else {
            return .note(
                "notifications", "missed ones are not fetched",
                remedy: "\(address). Set app-store-key, app-store-key-id and app-store-issuer-id to fetch missed ones.")
        }
        return .note(
            "notifications",
            "missed ones are fetched with \(configuration.appStore?.key?.file ?? "the keys of the apps")",
            remedy: "\(address).")
    }
}
