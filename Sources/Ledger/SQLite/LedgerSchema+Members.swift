/// The table of version 11: who has signed up in the seed's own app.
extension LedgerSchema {
    static let memberTable = """
        CREATE TABLE member (
            user_id INTEGER PRIMARY KEY REFERENCES user (user_id),
            phone_number TEXT NOT NULL,
            email TEXT NOT NULL,
            fcm_token TEXT NOT NULL,
            birth TEXT NOT NULL,
            gender INTEGER NOT NULL,
            joined_at INTEGER NOT NULL
        ) STRICT;
        """
}
