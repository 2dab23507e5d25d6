//! A server that knows nobody but those whom its operator has signed for.

use std::fs::{self, File};

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use tests::Scene;

use crate::{Server, publish, stored};

const LINE: &str = "{\"event\":\"x\"}\n";

/// What `issuer` says of `subject`, signed: a JSON Web Token as NATS has it.
fn token(issuer: &KeyPair, subject: &KeyPair, kind: &str, mut claims: Value) -> String {
    (claims["type"], claims["version"]) = (json!(kind), json!(2));
    let (issued_by, about) = (issuer.public_key(), subject.public_key());
    let body = json!({"jti": about, "iat": 1, "iss": issued_by, "sub": about, "name": kind, "nats": claims});
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let signed = [part(json!({"typ": "JWT", "alg": "ed25519-nkey"})), part(body)].join(".");
    let signature = BASE64URL_NOPAD.encode(&issuer.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}

/// The claims of an account: what it may use, which is everything, streams included.
fn account() -> Value {
    let names = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"];
    let streams = ["mem_storage", "disk_storage", "streams", "consumer"];
    let mut limits = json!({"wildcards": true});
    for name in names.iter().chain(&streams) {
        limits[name] = json!(-1);
    }
    json!({ "limits": limits })
}

#[test]
fn a_credentials_file_opens_the_door_and_stays_secret() {
    let scene = Scene::new();
    let [operator, system] = [KeyPair::new_operator(), KeyPair::new_account()];
    let [fleet, user] = [KeyPair::new_account(), KeyPair::new_user()];
    let limits = json!({"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1});
    let config = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {}, {}: {} }}",
        token(&operator, &operator, "operator", json!({})),
        system.public_key(),
        system.public_key(),
        token(
            &operator,
            &system,
            "account",
            json!({"limits": {"conn": -1, "subs": -1, "payload": -1, "data": -1}})
        ),
        fleet.public_key(),
        token(&operator, &fleet, "account", account()),
    );
    let server = Server::with(&scene, &config);
    let seed = user.seed().unwrap();
    let jwt = token(&fleet, &user, "user", limits);
    scene.write(
        "creds",
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        ),
    );
    let creds = scene.join("creds").display().to_string();

    scene.write("in", LINE);
    let publishes = |args: &[&str]| {
        let mut publisher = publish(&scene, &server, args);
        let input = File::open(scene.join("in")).unwrap();
        let out = publisher.arg("--create").stdin(input).output().unwrap();
        let said = [out.stdout, out.stderr].concat();
        (out.status.code(), String::from_utf8(said).unwrap())
    };
    assert_eq!(publishes(&["--creds", &creds]), (Some(0), String::new()));
    assert_eq!(stored(&scene, &server, &["--creds", &creds]), LINE);

    // A stranger has no such file, or one that another account has signed.
    assert_eq!(publishes(&[]).0, Some(2));
    let other = token(&KeyPair::new_account(), &user, "user", json!({}));
    scene.write("creds", fs::read_to_string(&creds).unwrap().replace(&jwt, &other));
    let (code, said) = publishes(&["--creds", &creds]);
    assert_eq!((code, said.contains("not_authorized")), (Some(2), true), "{said}");
    assert!(!said.contains(&seed) && !said.contains(&other), "{said}");
}
