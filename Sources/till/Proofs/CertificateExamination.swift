import Console
import Foundation
import Proofs

extension Examination {
    var roots: [HealthCheck] {
        do {
            let folders = try data.trustedFolders
            var entries: [TrustFolder.Entry] = []
            for folder in folders { entries += try TrustFolder(folder).entries() }
            let appKeys = try [AppKey](folders: folders)
            guard !entries.isEmpty || !appKeys.isEmpty else {
                return [
                    .problem(
                        .trustedRoots,
                        "there are none, so every proof is refused",
                        remedy: "Add Apple's: till trust add FILE. A local store adds its own: till serve --store.")
                ]
            }
            try configuration.check(try TrustAnchors(folders: folders), appKeys)
            let ending = entries.compactMap { entry in
                problem(
                    of: entry.anchor.certificate, in: entry.file, .trustedRoot,
                    remedy: "Add its successor: till trust add FILE.")
            }
            return ending + [.passed(.trustedRoots, Phrase(same: "\(entries.count + appKeys.count)"))]
        } catch {
            return [.problem(.trustedRoots, message(error))]
        }
    }

    /// The certificate of the server; nothing without TLS.
    var certificate: [HealthCheck] {
        guard let tls = configuration.server.tls else { return [] }
        let path = tls.certificate.path
        do {
            _ = try configuration.server.tlsContext()
        } catch {
            return [.problem(.tlsCertificate, message(error))]
        }
        guard let certificate = Self.certificate(ofServer: tls.certificate) else {
            return [.problem(.tlsCertificate, "\"\(path)\" has no certificate in PEM")]
        }
        let until = certificate.validUntil.rfc3339
        let ending = problem(
            of: certificate, in: tls.certificate, .tlsCertificate, remedy: "Renew it, then reload the service (SIGHUP)."
        )
        let valid = Phrase("\"\(path)\" is valid until \(until)")
        return [ending ?? .passed(.tlsCertificate, valid)]
    }

    /// The trusted roots and the certificate of the server, for people. Unreadable files are left to the findings.
    var certificates: [HealthCertificate] {
        let entries = ((try? data.trustedFolders) ?? []).flatMap { (try? TrustFolder($0).entries()) ?? [] }
        let server = configuration.server.tls.flatMap { tls -> HealthCertificate? in
            Self.certificate(ofServer: tls.certificate).map { (.tls, $0, tls.certificate) }
        }
        return entries.map { (.trustedRoot($0.anchor.realm), $0.anchor.certificate, $0.file) }
            + (server.map { [$0] } ?? [])
    }

    /// A problem with the validity of a certificate; nil if it stays valid for long.
    private func problem(
        of certificate: Certificate, in url: URL, _ subject: HealthCheck.Subject, remedy: Phrase
    ) -> HealthCheck? {
        let file = url.path
        let (from, until) = (certificate.validFrom.rfc3339, certificate.validUntil.rfc3339)
        let detail: Phrase
        switch certificate.state(at: now) {
        case .valid: return nil
        case .notYetValid: detail = "\"\(file)\" is not valid before \(from)"
        case .endsSoon: detail = "\"\(file)\" expires on \(until)"
        case .expired: detail = "\"\(file)\" expired on \(until)"
        }
        return .problem(subject, detail, remedy: remedy)
    }

    /// The address to which the App Store sends notifications.
    var notifications: HealthCheck {
        guard configuration.origins.contains(where: { $0 == .appleProduction || $0 == .appleSandbox }) else {
            return .passed(.notifications, "none from Apple, whose origins are not accepted")
        }
        let address = Phrase(
            "Register https://HOST/v1/notifications/apple in App Store Connect, with the public name of this service")
        guard configuration.appStore != nil else {
            return .note(
                .notifications, "missed ones are not fetched",
                remedy: "\(address). Set app-store-key, app-store-key-id and app-store-issuer-id to fetch missed ones.")
        }
        let keys = configuration.appStore?.key.map { Phrase(same: $0.file) } ?? "the keys of the apps"
        return .note(.notifications, "missed ones are fetched with \(keys)", remedy: "\(address).")
    }

    /// The service's connection to Google Play, if it accepts purchases of Google's or trusts the key of an app there.
    var googlePlay: [HealthCheck] {
        let keys = (try? [AppKey](folders: data.trustedFolders)) ?? []
        let isOfGoogle = !configuration.origins.isDisjoint(with: [.googleProduction, .googleTest])
        guard isOfGoogle || configuration.googlePlay != nil || keys.contains(where: { $0.realm == .google }) else {
            return []
        }
        guard let settings = configuration.googlePlay else {
            return [
                .note(
                    .googlePlay,
                    "signed purchases are verified, and Google Play is not asked: refunds, the ends of subscriptions, and those of rentals without a `rentalPeriod` in the catalog are not seen",
                    remedy: "Set google-service-account.")
            ]
        }
        guard settings.notifications != nil else {
            return [
                .note(
                    .googlePlay, "is asked with a service account; notifications are not received",
                    remedy:
                        "Set google-notifications-audience and google-notifications-email, and let Pub/Sub push to https://HOST/v1/notifications/google."
                )
            ]
        }
        return [
            .note(
                .googlePlay, "is asked with a service account; notifications are received",
                remedy:
                    "Let Pub/Sub push to https://HOST/v1/notifications/google, with the public name of this service.")
        ]
    }

    /// The first certificate of a file in PEM.
    private static func certificate(ofServer file: URL) -> Certificate? {
        guard let text = NamedFile.bytes(of: file).flatMap({ String(validating: $0, as: UTF8.self) }),
            let start = text.firstRange(of: "-----BEGIN CERTIFICATE-----")?.upperBound,
            let end = text[start...].firstRange(of: "-----END CERTIFICATE-----")?.lowerBound,
            let der = Data(base64Encoded: String(text[start..<end]), options: .ignoreUnknownCharacters)
        else { return nil }
        return Certificate(der: [UInt8](der))
    }
}
