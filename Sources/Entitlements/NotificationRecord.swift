import Commerce

/// A notification of the App Store as the ledger keeps it.
public struct NotificationRecord: Hashable, Sendable {
    /// The bundle identifier of the app.
    public let app: String
    public let origin: Origin
    /// By which copies are recognised.
    public let notificationUUID: String
    /// In Apple's words.
    public let type: String
    public let subtype: String?
    public let signedAt: Timestamp
    /// The SHA-256 of what was signed.
    public let proofDigest: [UInt8]
    /// The decoded notification as JSON, without the proofs inside it; nil if it is too long to be kept.
    public let content: String?

    /// The longest content that is kept, in bytes of UTF-8.
    static let maximumContentLength = 8192

    public init(
        app: String,
        origin: Origin,
        notificationUUID: String,
        type: String,
        subtype: String?,
        signedAt: Timestamp,
        proofDigest: [UInt8],
        content: String? = nil
    ) {
        self.app = app
        self.origin = origin
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.proofDigest = proofDigest
        self.content = content.flatMap { $0.utf8.count <= Self.maximumContentLength ? $0 : nil }
    }
}

/// What became of a notification.
public enum NotificationOutcome: String, Sendable {
    /// A user owns an item because of it, or owns it again.
    case granted
    /// It took an item from its owner.
    case revoked
    /// It changes nothing of what anybody owns: it tells what is known, or older, or is about something else.
    case recorded
    /// Nobody has claimed its transaction; whoever does will find it as the notification says.
    case parked
    /// It came before.
    case duplicate
}
