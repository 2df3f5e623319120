import GRDB
import HTTPSupport
import Proofs

/// A program of Google's for sales outside its billing (`BillingClient.BillingProgram`), or one of the older ones of alternative billing.
package enum BillingProgram: String, Codable, CaseIterable, Sendable {
    case externalContentLink = "EXTERNAL_CONTENT_LINK"
    case externalOffer = "EXTERNAL_OFFER"
    case externalPayments = "EXTERNAL_PAYMENTS"
    case userChoiceBilling = "USER_CHOICE_BILLING"
    case alternativeBillingOnly = "ALTERNATIVE_BILLING_ONLY"

    /// The countries of the program's customers; nil if the Play does not know them. "You should only start and report transactions […] for
    /// eligible user countries […]; otherwise, the API call is rejected" (developer.android.com/google/play/billing/outside-gpb-backend).
    var regions: Set<String>? {
        switch self {
        // "Limit external content links to users in the US and its territories"
        // (support.google.com/googleplay/android-developer/answer/16470497).
        case .externalContentLink: ["US", "AS", "GU", "MP", "PR", "UM", "VI"]
        // "Limit external offers to users in the EEA" (support.google.com/googleplay/android-developer/answer/14372887).
        case .externalOffer:
            [
                "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IS", "IT",
                "LI",
                "LT", "LU", "LV", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
            ]
        case .externalPayments, .userChoiceBilling, .alternativeBillingOnly: nil
        }
    }
}

/// The token that the Play Billing Library gives to an app before a customer leaves it, such as by
/// `createBillingProgramReportingDetailsAsync`. Several transactions may be reported with one.
package struct ExternalTransactionToken: Codable, Hashable, Sendable {
    package let externalTransactionToken: String
    package let packageName: String
    package let billingProgram: BillingProgram
    package let createTime: Timestamp
}

/// An app outside Google Play that the developer has registered in the Play Console: "Links to external app downloads as well as apps
/// available to download on the landing page need to be registered and approved in the Play Developer Console before use"
/// (developer.android.com/google/play/billing/externalcontentlinks).
package struct ExternalApp: Codable, Hashable, Sendable {
    package enum Category: String, Codable, CaseIterable, Sendable {
        case app = "APP"
        case game = "GAME"
    }

    package let packageName: String
    package let installedAppPackage: String
    package let category: Category

    package init(packageName: String, installedAppPackage: String, category: Category) {
        (self.packageName, self.installedAppPackage) = (packageName, installedAppPackage)
        self.category = category
    }
}

/// The checks of a report against the program in which its sale was made.
extension ExternalTransaction {
    /// The package name and the category of a downloaded app; nil for another report.
    var download: (details: String, app: String?, categoryField: String, category: String?)? {
        if let details = externalOfferDetails, details.linkType == Self.appDownload {
            return (
                "externalOfferDetails", details.installedAppPackage, "installedAppCategory",
                details.installedAppCategory
            )
        }
        if let details = externalContentLinkDetails, details.linkType == Self.appDownload {
            return (
                "externalContentLinkDetails", details.installedAppPackage, "externalAppCategory",
                details.externalAppCategory
            )
        }
        return nil
    }

    /// Checks the country and the details of a sale in a program.
    func check(in program: BillingProgram) throws(PublisherError) {
        if let regions = program.regions, !regions.contains(userTaxAddress?.regionCode ?? "") {
            throw .invalidValue(
                "userTaxAddress.regionCode", "the program \(program.rawValue) is not for customers of this country.")
        }
        // Google's own sentences, as a developer has met them (github.com/FastSpring/fastspring-fsBuilds-examples).
        guard externalContentLinkDetails != nil || program != .externalContentLink else {
            throw .invalidValue(
                "externalContentLinkDetails", "it must be set for external content link transactions.")
        }
        guard externalContentLinkDetails == nil || program == .externalContentLink else {
            throw .invalidValue(
                "externalContentLinkDetails", "it must only be set for external content link transactions.")
        }
        guard externalOfferDetails == nil || program == .externalOffer else {
            throw .invalidValue("externalOfferDetails", "it must only be set for external offer transactions.")
        }
        // `linkType`: "Required when reporting app downloads or purchased digital content offers made in app installed through Google
        // Play". `appDownloadEventExternalTransactionId`: "Required when reporting transactions made in externally installed apps".
        guard
            program != .externalOffer || externalOfferDetails?.linkType != nil
                || externalOfferDetails?.appDownloadEventExternalTransactionId != nil
        else { throw .required("externalOfferDetails.linkType") }
    }
}

extension PlayBooks {
    /// Makes the token that an app gets before its customer leaves it.
    ///
    /// - Throws: `PlayError`, `appNotFound`.
    package func makeExternalTransactionToken(
        of packageName: String, in program: BillingProgram
    ) throws -> ExternalTransactionToken {
        guard try hasApp(packageName) else { throw PlayError.appNotFound(packageName) }
        let token = ExternalTransactionToken(
            externalTransactionToken: Base64.encode(randomness.bytes(48), .urlSafe), packageName: packageName,
            billingProgram: program, createTime: now)
        try database.insert(
            [
                "token": token.externalTransactionToken, "package_name": packageName,
                "record": try LocalRecord.text(token),
            ], into: "external_transaction_token")
        return token
    }

    /// Registers an app outside Google Play, or changes its category.
    ///
    /// - Throws: `PlayError`, `appNotFound`.
    package func register(_ app: ExternalApp) throws {
        guard try hasApp(app.packageName) else { throw PlayError.appNotFound(app.packageName) }
        try database.insert(
            [
                "package_name": app.packageName, "installed_package": app.installedAppPackage,
                "record": try LocalRecord.text(app),
            ], into: "external_app", replacing: "package_name, installed_package")
    }

    /// The registered apps outside Google Play, in the order of their names.
    package func externalApps() throws -> [ExternalApp] {
        try database.records("SELECT record FROM external_app ORDER BY package_name, installed_package")
    }

    /// The program in which a transaction was made: that of its token, of its series, or of the reports by hand.
    ///
    /// - Throws: `PublisherError` for a token that the app did not get.
    func program(of report: ExternalTransaction, of packageName: String) throws -> BillingProgram? {
        for (field, token) in [
            ("oneTimeTransaction", report.oneTimeTransaction?.externalTransactionToken),
            ("recurringTransaction", report.recurringTransaction?.externalTransactionToken),
        ] {
            guard let token, !token.isEmpty else { continue }
            let known: ExternalTransactionToken? = try database.record(
                """
                SELECT record FROM external_transaction_token WHERE token = \(token) AND package_name = \(packageName)
                """)
            guard let known else {
                throw PublisherError.invalidValue(
                    "\(field).externalTransactionToken", "the app did not get it from the Play Billing Library.")
            }
            return known.billingProgram
        }
        if let first = report.recurringTransaction?.initialExternalTransactionId {
            return try externalTransaction(first, of: packageName)?.program
        }
        return report.recurringTransaction?.migratedTransactionProgram.flatMap(BillingProgram.init)
    }

    /// Checks what a report says about a download, and about the app in which a sale was made.
    func checkDownload(of report: ExternalTransaction, in packageName: String) throws {
        if let download = report.download {
            let known: ExternalApp? = try database.record(
                """
                SELECT record FROM external_app
                WHERE package_name = \(packageName) AND installed_package = \(download.app)
                """)
            guard let known else {
                throw PublisherError.invalidValue(
                    "\(download.details).installedAppPackage", "the Play Console has no such external app.")
            }
            // "This must match the category provided in Play Console during the external app verification process."
            guard known.category.rawValue == download.category else {
                throw PublisherError.invalidValue(
                    "\(download.details).\(download.categoryField)",
                    "the app is of the category \(known.category.rawValue) in the Play Console.")
            }
        }
        if let event = report.externalOfferDetails?.appDownloadEventExternalTransactionId {
            guard try externalTransaction(event, of: packageName)?.transaction.download != nil else {
                throw PublisherError.invalidValue(
                    "externalOfferDetails.appDownloadEventExternalTransactionId", "it is of no reported download.")
            }
        }
    }
}
