/// The table of version 11, as `LedgerSchema` has it.
extension PostgreSQLSchema {
    static let memberTable = """
        CREATE TABLE member (
            user_id BIGINT PRIMARY KEY REFERENCES "user" (user_id),
            phone_number TEXT COLLATE "C" NOT NULL,
            email TEXT COLLATE "C" NOT NULL,
            fcm_token TEXT COLLATE "C" NOT NULL,
            birth TEXT COLLATE "C" NOT NULL,
            gender BIGINT NOT NULL,
            joined_at BIGINT NOT NULL
        );
        """
}
