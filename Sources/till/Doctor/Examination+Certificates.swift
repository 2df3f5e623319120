import Commerce
import Console
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
                        .trustedRoots,
                        Phrase("there are none, so every proof is refused", "없어서 모든 증명을 거절합니다"),
                        remedy: Phrase(
                            "Add Apple's: till trust add FILE. A local store adds its own: till serve --store.",
                            "Apple의 루트를 추가하세요: till trust add FILE. 로컬 스토어는 자기 루트를 추가합니다: till serve --store."))
                ]
            }
            try configuration.check(try TrustAnchors(folders: folders))
            let ending = entries.compactMap { entry in
                ends(
                    entry.anchor.certificate, check: .trustedRoot, name: entry.file.path,
                    remedy: Phrase(
                        "Add its successor: till trust add FILE.", "새 루트를 추가하세요: till trust add FILE."))
            }
            return ending + [.passed(.trustedRoots, Phrase(same: "\(entries.count)"))]
        } catch {
            return [.problem(.trustedRoots, message(error))]
        }
    }

    /// The certificate of the server; nothing without TLS.
    var certificate: [Finding] {
        guard let tls = configuration.server.tls else { return [] }
        let path = tls.certificate.path
        do {
            _ = try tls.configuration()
        } catch {
            return [.problem(.tlsCertificate, message(error))]
        }
        guard let certificate = Self.firstCertificate(in: tls.certificate) else {
            return [
                .problem(
                    .tlsCertificate,
                    Phrase("\"\(path)\" has no certificate in PEM", "\"\(path)\"에 PEM 인증서가 없습니다"))
            ]
        }
        let until = Timestamp(secondsSince1970: certificate.notAfter).rfc3339
        let ending = ends(
            certificate, check: .tlsCertificate, name: path,
            remedy: Phrase("Renew it, then restart the service.", "갱신한 다음 서비스를 다시 시작하세요."))
        let valid = Phrase("\"\(path)\" is valid until \(until)", "\"\(path)\"은(는) \(until)까지 유효합니다")
        return [ending ?? .passed(.tlsCertificate, valid)]
    }

    /// The trusted roots and the certificate of the server, for people. Unreadable files are left to the findings.
    var certificates: [HealthCertificate] {
        var certificates: [HealthCertificate] = []
        for folder in (try? data.trustedFolders) ?? [] {
            for entry in (try? TrustFolder(folder).entries()) ?? [] {
                certificates.append(
                    HealthCertificate(
                        entry.anchor.certificate, use: .trustedRoot(entry.anchor.realm), file: entry.file.path))
            }
        }
        if let file = configuration.server.tls?.certificate, let certificate = Self.firstCertificate(in: file) {
            certificates.append(HealthCertificate(certificate, use: .tls, file: file.path))
        }
        return certificates
    }

    /// A finding about a certificate that is not valid, or not for long; nil for another.
    private func ends(_ certificate: Certificate, check: Finding.Subject, name: String, remedy: Phrase)
        -> Finding?
    {
        let (from, until) = (certificate.notBefore, certificate.notAfter)
        if now.secondsSince1970 < from {
            let day = Timestamp(secondsSince1970: from).rfc3339
            return .problem(
                check,
                Phrase("\"\(name)\" is not valid before \(day)", "\"\(name)\"은(는) \(day)부터 유효합니다"),
                remedy: remedy)
        }
        guard now.secondsSince1970 > until - Self.warningSeconds else { return nil }
        let day = Timestamp(secondsSince1970: until).rfc3339
        return now.secondsSince1970 > until
            ? .problem(
                check, Phrase("\"\(name)\" expired on \(day)", "\"\(name)\"이(가) \(day)에 만료되었습니다"),
                remedy: remedy)
            : .problem(
                check, Phrase("\"\(name)\" expires on \(day)", "\"\(name)\"이(가) \(day)에 만료됩니다"),
                remedy: remedy)
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
            return .passed(
                .notifications,
                Phrase(
                    "none from Apple, whose origins are not accepted",
                    "Apple의 출처를 받지 않으므로 Apple의 알림이 없습니다"))
        }
        let address = Phrase(
            "Register https://HOST/v1/notifications/apple in App Store Connect, with the public name of this service",
            "App Store Connect에 이 서비스의 공개 주소로 https://HOST/v1/notifications/apple을 등록하세요")
        guard configuration.appStore != nil else {
            return .note(
                .notifications, Phrase("missed ones are not fetched", "놓친 알림을 가져오지 않습니다"),
                remedy: Phrase(
                    "\(address.english). Set app-store-key, app-store-key-id and app-store-issuer-id to fetch missed ones.",
                    "\(address.korean). 놓친 알림을 가져오려면 app-store-key, app-store-key-id, app-store-issuer-id를 설정하세요."))
        }
        return .note(
            .notifications,
            Phrase(
                "missed ones are fetched with \(configuration.appStore?.key?.file ?? "the keys of the apps")",
                "놓친 알림을 가져옵니다: \(configuration.appStore?.key?.file ?? "앱의 키")"),
            remedy: Phrase(address.english + ".", address.korean + "."))
    }
}

extension HealthCertificate {
    fileprivate init(_ certificate: Certificate, use: Use, file: String) {
        self.init(
            use: use, name: certificate.commonName, file: file,
            notBefore: Timestamp(secondsSince1970: certificate.notBefore),
            notAfter: Timestamp(secondsSince1970: certificate.notAfter),
            fingerprint: certificate.fingerprint.hexadecimal)
    }
}
