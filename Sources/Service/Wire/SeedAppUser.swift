/// A member in the JSON of the seed's own app. Fields that Till does not use have the values of a new member.
public struct SeedAppUser: Codable, Sendable {
    /// 24 hexadecimal digits, in the form of a document database's identifier.
    public let _id: String
    public let __v: Int
    /// The token's `sub`.
    public let uid: String
    public let phoneNumber: String
    public let email: String
    public let FCMtoken: String
    public let nick: String
    public let birth: String
    public let gender: Int
    public let study: String
    public let comment: [String]
    public let reputation: [Int]
    public let sesac: Int
    public let sesacCollection: [Int]
    public let background: Int
    public let backgroundCollection: [Int]
    public let purchaseToken: [String]
    public let transactionId: [String]
    public let reviewedBefore: [String]
    public let reportedNum: Int
    public let reportedUser: [String]
    public let dodgepenalty: Int
    public let dodgeNum: Int
    public let ageMin: Int
    public let ageMax: Int
    public let searchable: Int
    /// RFC 3339 with milliseconds.
    public let createdAt: String

    public init(
        _id: String,
        __v: Int = 0,
        uid: String,
        phoneNumber: String,
        email: String,
        FCMtoken: String,
        nick: String,
        birth: String,
        gender: Int,
        study: String = "",
        comment: [String] = [],
        reputation: [Int] = [0, 0, 0, 0, 0, 0, 0, 0, 0],
        sesac: Int,
        sesacCollection: [Int],
        background: Int,
        backgroundCollection: [Int],
        purchaseToken: [String] = [],
        transactionId: [String],
        reviewedBefore: [String] = [],
        reportedNum: Int = 0,
        reportedUser: [String] = [],
        dodgepenalty: Int = 0,
        dodgeNum: Int = 0,
        ageMin: Int = 18,
        ageMax: Int = 65,
        searchable: Int = 1,
        createdAt: String
    ) {
        self._id = _id
        self.__v = __v
        self.uid = uid
        self.phoneNumber = phoneNumber
        self.email = email
        self.FCMtoken = FCMtoken
        self.nick = nick
        self.birth = birth
        self.gender = gender
        self.study = study
        self.comment = comment
        self.reputation = reputation
        self.sesac = sesac
        self.sesacCollection = sesacCollection
        self.background = background
        self.backgroundCollection = backgroundCollection
        self.purchaseToken = purchaseToken
        self.transactionId = transactionId
        self.reviewedBefore = reviewedBefore
        self.reportedNum = reportedNum
        self.reportedUser = reportedUser
        self.dodgepenalty = dodgepenalty
        self.dodgeNum = dodgeNum
        self.ageMin = ageMin
        self.ageMax = ageMax
        self.searchable = searchable
        self.createdAt = createdAt
    }
}
