"""The shipped server adapters against the real servers: what their protocols promise, and that sessions do not meet."""

import pytest

from bbfalsify.core.query import WordQuery
from bbfalsify.running import Driver, Execution
from bbfalsify.systems import load_system


def outputs(adapter, *words, **more):
    with Driver(load_system(f"adapters/{adapter}"), None, Execution(**more)) as driver:
        answers = driver.ask([WordQuery(f"w{i}", tuple(word.split())) for i, word in enumerate(words)])
    assert all(answer.ok for answer in answers), [answer.message for answer in answers]
    return [answer.symbols for answer in answers]


def test_mosquitto_sends_subscribers_what_is_published():
    [seen] = outputs(
        "mosquitto",
        "connect_clean publish_qos0 subscribe publish_qos0 publish_qos1 publish_qos2 "
        "unsubscribe publish_qos1 publish_qos2",
    )
    assert seen[:5] == ("CONNACK:0", "-", "SUBACK", "PUBLISH", "PUBLISH+PUBACK")
    assert seen[5:] == ("PUBREC+PUBLISH+PUBCOMP", "UNSUBACK", "PUBACK", "PUBREC+PUBCOMP")


def test_mosquitto_remembers_persistent_sessions_only():
    kept, lost = outputs(
        "mosquitto",
        "connect_persistent subscribe drop connect_persistent publish_qos0",
        "connect_clean subscribe drop connect_clean publish_qos0",
    )
    assert kept == ("CONNACK:0", "SUBACK", "-", "CONNACK:0 session", "PUBLISH")
    assert lost == ("CONNACK:0", "SUBACK", "-", "CONNACK:0", "-")


def test_mosquitto_keeps_a_retained_message_until_it_is_cleared():
    [seen] = outputs("mosquitto", "connect_clean publish_retained subscribe clear_retained unsubscribe subscribe")
    assert seen == ("CONNACK:0", "-", "SUBACK+PUBLISH retained", "PUBLISH", "UNSUBACK", "SUBACK")


def test_mosquitto_hangs_up_on_a_second_connect():
    [seen] = outputs("mosquitto", "subscribe connect_clean connect_clean subscribe connect_clean")
    assert seen == ("not connected", "CONNACK:0", "closed", "not connected", "CONNACK:0")


def test_smtp_takes_a_mail_in_the_right_order_only():
    right, wrong, again = outputs(
        "smtp", "helo mail rcpt data content quit noop", "mail helo rcpt data", "helo mail mail"
    )
    assert right == ("250", "250", "250", "354", "250", "221", "closed")
    assert wrong == ("503", "250", "503", "503")
    assert again == ("250", "250", "503")


def test_ftp_needs_a_login_and_keeps_sessions_apart():
    first, second, stranger = outputs(
        "ftp", "user pass mkdir mkdir", "user pass mkdir rmdir", "pwd user wrong_pass mkdir"
    )
    assert first == ("331", "230", "257", "550")
    assert second == ("331", "230", "257", "250")
    assert stranger == ("530", "331", "530", "530")


@pytest.mark.parametrize(
    ("adapter", "word"),
    [
        ("mosquitto", "connect_persistent subscribe publish_qos1 publish_retained drop connect_persistent subscribe"),
        ("smtp", "ehlo mail rcpt data content rset quit"),
        ("ftp", "user pass mkdir rename_from rename_to quit"),
    ],
)
def test_the_same_word_gets_the_same_answer(adapter, word):
    """A hundred sessions on two servers side by side; one that leaked into the next would show."""
    assert len(set(outputs(adapter, *[word] * 100, jobs=2))) == 1


def test_a_quit_within_the_content_of_a_mail_is_content():
    [seen] = outputs("smtp", "helo mail rcpt data quit noop quit noop")
    assert seen == ("250", "250", "250", "354", "250", "250", "221", "closed")
