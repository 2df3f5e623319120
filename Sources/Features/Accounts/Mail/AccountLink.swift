import Proofs

/// A mailed link in the ledger. A used link is deleted.
package struct AccountLink: Hashable, Sendable {
    /// The user's number.
    package let user: Int64
    /// The SHA-256 of the token.
    package let digest: [UInt8]
    package let purpose: LinkPurpose
    /// The address that the link was mailed to, in lower case.
    package let emailLowercase: String
    package let createdAt: Timestamp
    package let endsAt: Timestamp

    /// - Parameter endsAt: The expiration; nil for that of the purpose.
    package init(
        user: Int64,
        digest: [UInt8],
        purpose: LinkPurpose,
        emailLowercase: String,
        createdAt: Timestamp,
        endsAt: Timestamp? = nil
    ) {
        self.user = user
        self.digest = digest
        self.purpose = purpose
        self.emailLowercase = emailLowercase
        self.createdAt = createdAt
        self.endsAt = endsAt ?? createdAt.adding(seconds: purpose.lifetime)
    }

    /// The reason why the link is not valid for a use; nil if it is.
    ///
    /// - Parameters:
    ///   - purposes: The purposes of links for this use.
    ///   - account: The account of the link's user; nil if it was erased.
    ///   - change: The pending change of the account's address; nil if there is none.
    package func refusal(
        for purposes: Set<LinkPurpose>,
        account: AccountRecord?,
        change: AddressChange?,
        at moment: Timestamp
    ) -> AccountError? {
        guard purposes.contains(purpose), let account else { return .linkInvalid }
        // The confirmed address must be the one that the mail was sent to.
        let address: String? =
            switch purpose {
            case .verification, .reset: account.emailLowercase
            case .addressChange: change == nil ? nil : account.emailLowercase
            case .newAddress: change?.emailLowercase
            }
        guard address == emailLowercase else { return .linkInvalid }
        return moment < endsAt ? nil : .linkExpired
    }
}

/// A pending change of an account's address, which both addresses must confirm.
package struct AddressChange: Hashable, Sendable {
    /// The new address as the user wrote it.
    package let email: String
    package let emailLowercase: String
    package let askedAt: Timestamp
    package private(set) var isConfirmedAtOld: Bool
    package private(set) var isConfirmedAtNew: Bool

    package init(
        email: String,
        emailLowercase: String,
        askedAt: Timestamp,
        isConfirmedAtOld: Bool,
        isConfirmedAtNew: Bool
    ) {
        self.email = email
        self.emailLowercase = emailLowercase
        self.askedAt = askedAt
        self.isConfirmedAtOld = isConfirmedAtOld
        self.isConfirmedAtNew = isConfirmedAtNew
    }

    /// An unconfirmed change. An unverified old address may be a stranger's mailbox or none, so only a verified one must
    /// confirm.
    init(to email: EmailAddress, of account: AccountRecord, at moment: Timestamp) {
        self.init(
            email: email.text, emailLowercase: email.lowercase, askedAt: moment,
            isConfirmedAtOld: account.emailVerifiedAt == nil, isConfirmedAtNew: false)
    }

    /// The mails that ask for a confirmation, with their recipients.
    func mails(of account: AccountRecord) -> [(purpose: LinkPurpose, email: String)] {
        let old = isConfirmedAtOld ? [] : [(purpose: LinkPurpose.addressChange, email: account.email)]
        return old + [(.newAddress, email)]
    }

    var isComplete: Bool { isConfirmedAtOld && isConfirmedAtNew }

    /// The change after a link was used.
    func confirmed(by purpose: LinkPurpose) -> AddressChange {
        var change = self
        switch purpose {
        case .addressChange: change.isConfirmedAtOld = true
        case .newAddress: change.isConfirmedAtNew = true
        case .verification, .reset: break
        }
        return change
    }
}
