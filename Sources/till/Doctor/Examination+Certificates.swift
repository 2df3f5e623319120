import Console
import Foundation
import Proofs

extension Examination {
    /// The trusted roots.
    var roots: [HealthCheck] {
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
                problem(
                    of: HealthCertificate(entry), .trustedRoot,
                    remedy: Phrase("Add its successor: till trust add FILE.", "새 루트를 추가하세요: till trust add FILE."))
            }
            return ending + [.passed(.trustedRoots, Phrase(same: "\(entries.count)"))]
        } catch {
            return [.problem(.trustedRoots, message(error))]
        }
    }

    /// The certificate of the server; nothing without TLS.
    var certificate: [HealthCheck] {
        guard let tls = configuration.server.tls else { return [] }
        let path = tls.certificate.path
        do {
            _ = try tls.configuration()
        } catch {
            return [.problem(.tlsCertificate, message(error))]
        }
        guard let certificate = HealthCertificate(ofServer: tls.certificate) else {
            return [
                .problem(.tlsCertificate, Phrase("\"\(path)\" has no certificate in PEM", "\"\(path)\"에 PEM 인증서가 없습니다"))
            ]
        }
        let until = certificate.notAfter.rfc3339
        let ending = problem(
            of: certificate, .tlsCertificate,
            remedy: Phrase("Renew it, then restart the service.", "갱신한 다음 서비스를 다시 시작하세요."))
        let valid = Phrase("\"\(path)\" is valid until \(until)", "\"\(path)\"은(는) \(until)까지 유효합니다")
        return [ending ?? .passed(.tlsCertificate, valid)]
    }

    /// The trusted roots and the certificate of the server, for people. Unreadable files are left to the findings.
    var certificates: [HealthCertificate] {
        let entries = ((try? data.trustedFolders) ?? []).flatMap { (try? TrustFolder($0).entries()) ?? [] }
        let server = configuration.server.tls.flatMap { HealthCertificate(ofServer: $0.certificate) }
        return entries.map { HealthCertificate($0) } + [server].compactMap(\.self)
    }

    /// A problem with the validity of a certificate; nil if it stays valid for long.
    private func problem(
        of certificate: HealthCertificate, _ subject: HealthCheck.Subject, remedy: Phrase
    ) -> HealthCheck? {
        let file = certificate.file
        let (from, until) = (certificate.notBefore.rfc3339, certificate.notAfter.rfc3339)
        let detail: Phrase
        switch certificate.state(at: now) {
        case .valid: return nil
        case .notYetValid: detail = Phrase("\"\(file)\" is not valid before \(from)", "\"\(file)\"은(는) \(from)부터 유효합니다")
        case .endsSoon: detail = Phrase("\"\(file)\" expires on \(until)", "\"\(file)\"이(가) \(until)에 만료됩니다")
        case .expired: detail = Phrase("\"\(file)\" expired on \(until)", "\"\(file)\"이(가) \(until)에 만료되었습니다")
        }
        return .problem(subject, detail, remedy: remedy)
    }

    /// The address to which the App Store sends notifications.
    var notifications: HealthCheck {
        guard configuration.origins.contains(where: { $0 == .appleProduction || $0 == .appleSandbox }) else {
            return .passed(
                .notifications,
                Phrase("none from Apple, whose origins are not accepted", "Apple의 출처를 받지 않으므로 Apple의 알림이 없습니다"))
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
    fileprivate init(_ root: TrustFolder.Entry) {
        self.init(root.anchor.certificate, use: .trustedRoot(root.anchor.realm), file: root.file)
    }

    /// The first certificate of a file in PEM.
    fileprivate init?(ofServer file: URL) {
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let start = text.firstRange(of: "-----BEGIN CERTIFICATE-----")?.upperBound,
            let end = text[start...].firstRange(of: "-----END CERTIFICATE-----")?.lowerBound,
            let der = Data(base64Encoded: String(text[start..<end]), options: .ignoreUnknownCharacters),
            let certificate = Certificate(der: [UInt8](der))
        else { return nil }
        self.init(certificate, use: .tls, file: file)
    }

    private init(_ certificate: Certificate, use: Use, file: URL) {
        self.init(
            use: use, name: certificate.commonName, file: file.path,
            notBefore: Timestamp(secondsSince1970: certificate.notBefore),
            notAfter: Timestamp(secondsSince1970: certificate.notAfter),
            fingerprint: certificate.fingerprint.hexadecimal)
    }
}
